/* What the reductions have in common: MPI_FLOAT and MPI_SUM when the size is a multiple of four, MPI_BYTE and MPI_BXOR
 * otherwise. */
#ifndef UNISONO_REDUCE_COMMON_H
#define UNISONO_REDUCE_COMMON_H

#include "../operation.h"

/* Gives the operation its table of right results. */
void elements_prepare(struct operation *operation);
/* That of the results of the first `of` ranks. */
void elements_prepare_first(struct operation *operation, int of);
MPI_Datatype elements_type(const struct operation *operation);
MPI_Op elements_op(const struct operation *operation);
size_t elements_in(const struct operation *operation, size_t bytes);

/* This rank's whole contribution. */
void elements_fill(const struct operation *operation, void *send, uint64_t repetition);

/* False, naming the first wrong one of the elements first .. in `bytes` bytes. */
bool elements_verify(const struct operation *operation, const void *result, size_t first, size_t bytes,
                     uint64_t repetition, struct problem *problem);

#endif
