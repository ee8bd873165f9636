/* What the environment asks for. Read once, at MPI_Init. */
#ifndef UNISONO_SETTINGS_H
#define UNISONO_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct settings {
    char prefix[PATH_MAX]; /* absolute; "": do not record */
    char filter[PATH_MAX]; /* "": none */
    int depth;             /* frames of a call path, 0..16 */
    bool split_waiting;
    bool start; /* recording from the start */
    size_t memory;
};

/* Values that cannot be are said once by `complain` and replaced by the default. */
void settings_read(struct settings *settings, void (*complain)(const char *variable, const char *value));

#endif
