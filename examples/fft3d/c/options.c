#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char options_usage[] = "usage: fft3d [--grid NX NY NZ] [--steps N] [--decomposition slabs|pencils|ROWSxCOLUMNS]\n"
                             "  --grid           points along each axis, powers of two (64 64 64)\n"
                             "  --steps          time steps (6)\n"
                             "  --decomposition  slabs: planes, one transpose a transform; pencils: two (slabs)\n";

/* A number above 0 that ends at `*end`. */
static bool number(const char *word, int *value, char **end)
{
    errno = 0;
    long read = strtol(word, end, 10);
    *value = (int)read;
    return *end != word && errno == 0 && read > 0 && read <= INT_MAX;
}

static bool whole_number(const char *word, int *value)
{
    char *end;
    return number(word, value, &end) && *end == '\0';
}

static bool decomposition(const char *word, Options *options)
{
    char *end;
    if (strcmp(word, "slabs") == 0) {
        options->rows = options->columns = 0;
        return true;
    }
    if (strcmp(word, "pencils") == 0) {
        options->rows = options->columns = -1;
        return true;
    }
    return number(word, &options->rows, &end) && *end == 'x' && whole_number(end + 1, &options->columns);
}

const char *options_parse(Options *options, int count, char **words)
{
    *options = (Options){.points = {64, 64, 64}, .steps = 6};
    for (int i = 1; i < count; i++) {
        int left = count - i - 1;
        if (strcmp(words[i], "--grid") == 0 && left >= 3) {
            for (int axis = 0; axis < 3; axis++)
                if (!whole_number(words[++i], &options->points[axis]))
                    return "--grid takes three numbers above 0";
        } else if (strcmp(words[i], "--steps") == 0 && left >= 1) {
            if (!whole_number(words[++i], &options->steps))
                return "--steps takes a number above 0";
        } else if (strcmp(words[i], "--decomposition") == 0 && left >= 1) {
            if (!decomposition(words[++i], options))
                return "--decomposition takes slabs, pencils or for example 2x4";
        } else {
            return "an option that there is not, or that lacks its value";
        }
    }
    return NULL;
}
