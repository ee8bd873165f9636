/* Calls right after one another, without anybody waiting for anybody in between: how Nakajima (2009) measures. */
#ifndef UNISONO_LOOP_H
#define UNISONO_LOOP_H

#include "bench.h"
#include "operation.h"

/* Collective. On rank 0 the mean nanoseconds of a call, of the rank where it takes longest. */
double loop_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, int calls);

#endif
