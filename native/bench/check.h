/* Is the result right? Once per (collective, size, setting), outside the timing. */
#ifndef UNISONO_CHECK_H
#define UNISONO_CHECK_H

#include "bench.h"
#include "operation.h"

/* Collective. When a result is wrong, rank 0's problem names a rank and its first wrong element. `fault` is what a test
   wants to happen here. Returns how long the operation took this rank, ns. */
int64_t check_result(struct bench *bench, const struct operation *operation, MPI_Comm comm, enum fault_kind fault,
                     struct problem *problem);

#endif
