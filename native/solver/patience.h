/* Waiting for other processes without keeping them from running.
 *
 * MPICH never gives its core up while it waits (4.0 with ch4:ucx, whatever MPIR_CVAR_POLLS_BEFORE_YIELD says): with more
 * processes and threads than cores the one that is waited for gets its turn when the scheduler takes the core away,
 * milliseconds later. So where cores are shared, requests are tested and the core is given up in between. */
#ifndef UNISONO_SOLVER_PATIENCE_H
#define UNISONO_SOLVER_PATIENCE_H

#include <mpi.h>
#include <stdbool.h>

/* Whether the processes of a node have fewer cores than threads, asked once. Collective. */
void patience_learn(MPI_Comm comm, int threads);

/* What it learned; the same on all processes of a node. */
bool patience_is_needed(void);

void patience_wait(int count, MPI_Request *requests);
void patience_barrier(MPI_Comm comm);
void patience_allreduce(const void *value, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#endif
