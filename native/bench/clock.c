#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t state, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        state = (state ^ (unsigned char)bytes[i]) * 1099511628211u;
    return state;
}

uint64_t clock_machine(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = '\0';
        fclose(file);
    }
    if (text[0] == '\0')
        gethostname(text, sizeof text - 1);
    return hash(14695981039346656037u, text, strlen(text));
}

uint64_t clock_identity(void)
{
    char space[64];
    ssize_t length = readlink("/proc/self/ns/time", space, sizeof space);
    return hash(clock_machine(), space, length > 0 ? (size_t)length : 0);
}
