/* This rank's part of the file. */
#ifndef UNISONO_PART_H
#define UNISONO_PART_H

#include "bytes.h"

/* At MPI_Init, after record_start: remembers what a signal handler could not ask for. */
void part_start(uint64_t init_ns, int thread_level);

/* The whole part, in fresh memory; `ended` is "finalize", "abort" or "signal NAME". `at` is NULL if there is no memory.
 * Async-signal-safe. */
struct bytes part_write(const char *ended);

#endif
