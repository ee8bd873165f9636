/* A batch of repetitions of one operation under one setting, and what it measured. */
#ifndef UNISONO_BATCH_H
#define UNISONO_BATCH_H

#include "bench.h"
#include "operation.h"
#include "planner.h"

/* Collective. The outcome is filled on rank 0. */
void batch_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, const struct order *order,
               struct outcome *outcome);

#endif
