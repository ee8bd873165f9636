#include "ticks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool ticks_even;
static uint64_t first_tick, first_ns;

#if defined(__x86_64__)
/* The kernel's word for it, of the first processor. */
static bool counter_is_even(void)
{
    char text[4096];
    int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return strstr(text, " constant_tsc") != NULL && strstr(text, " nonstop_tsc") != NULL;
}
#endif

void ticks_start(void)
{
#if defined(__x86_64__)
    ticks_even = counter_is_even();
#endif
    ticks_restart();
}

void ticks_restart(void)
{
    first_tick = ticks_now();
    first_ns = ticks_clock_ns();
}

uint64_t ticks_to_ns(uint64_t tick, double ns_per_tick)
{
    return first_ns + (uint64_t)((double)ticks_between(first_tick, tick) * ns_per_tick);
}

uint64_t ticks_elapsed_ns(double *ns_per_tick)
{
    uint64_t ticks = ticks_between(first_tick, ticks_now());
    uint64_t ns = ticks_clock_ns() - first_ns;
    *ns_per_tick = ticks_even && ticks > 0 ? (double)ns / (double)ticks : 1.0;
    return ns;
}
