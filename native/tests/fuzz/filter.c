/* Filters of the recorder: the whole input as a file, and each of its lines by itself. */
#include "filter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static void as_file(const uint8_t *data, size_t size)
{
    static int file = -1, nowhere;
    static char path[64];
    bool excluded[FUNCTIONS];
    if (file < 0) {
        file = memfd_create("filter", 0);
        FUZZ_CHECK(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        nowhere = open("/dev/null", O_WRONLY);
        FUZZ_CHECK(nowhere >= 0);
    }
    FUZZ_CHECK(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    /* It says a line of each that it does not understand. */
    int error = dup(STDERR_FILENO);
    FUZZ_CHECK(error >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
    filter_read(path, excluded);
    FUZZ_CHECK(dup2(error, STDERR_FILENO) >= 0);
    close(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool excluded[FUNCTIONS] = {false};
    char *text = fuzz_text(data, size), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *exact = strdup(line);
        FUZZ_CHECK(exact != NULL);
        filter_line(exact, excluded);
        free(exact);
    }
    free(text);
    as_file(data, size);
    return 0;
}
