/* When a rank came to a call, by the clock that all ranks of a machine share: one line in stamps.RANK for each. How long
 * one rank waits for another is known only by both: a rank that is put aside on its way comes later than it was told to. */
#ifndef STAMP_H
#define STAMP_H

#include <stdio.h>
#include <time.h>

enum { STAMPS = 256 };
static const char *stamp_names[STAMPS];
static struct timespec stamp_times[STAMPS];
static int stamps_taken;

/* The last thing before the call. */
static void stamp(const char *name)
{
    if (stamps_taken == STAMPS)
        return;
    stamp_names[stamps_taken] = name;
    clock_gettime(CLOCK_MONOTONIC, &stamp_times[stamps_taken++]);
}

static int stamps_written(int rank)
{
    char path[32];
    snprintf(path, sizeof path, "stamps.%d", rank);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    for (int i = 0; i < stamps_taken; i++)
        fprintf(file, "%s %lld\n", stamp_names[i], stamp_times[i].tv_sec * 1000000000LL + stamp_times[i].tv_nsec);
    return fclose(file) == 0;
}

#endif
