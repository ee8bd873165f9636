/* Duplicates of a communicator on which the MPI library serves with a component or an algorithm of our choice. */
#ifndef UNISONO_DUPLICATES_H
#define UNISONO_DUPLICATES_H

#include "implementation.h"

/* Whether one duplicate is good for both. */
bool duplicates_same(const struct implementation *a, const struct implementation *b);

/* Collective, the same answer on all ranks: a duplicate of the private communicator, which runs no callback of the program.
 * MPI_COMM_NULL: this MPI, or this communicator, cannot have it. */
MPI_Comm duplicates_make(const struct coll_comm *ours, const struct implementation *implementation);

/* At MPI_Finalize. */
void duplicates_end(void);

#endif
