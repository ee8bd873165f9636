/* A large MPI_COMM_WORLD without a launch, for tests: functions of MPI, as our collectives call them, answer as they would on
 * one rank of it. Messages go nowhere and come at once. */
#ifndef UNISONO_STUB_WORLD_H
#define UNISONO_STUB_WORLD_H

#include <mpi.h>
#include <stdint.h>

/* Nodes of `ppn` ranks that follow one another; this is rank 0. */
void stub_world(int nodes, int ppn);

/* A communicator of these ranks of the world, of which this is number 0; -1: of a process that joined later. `ranks` must
 * stay; NULL: the world's own, as a split gives it. */
MPI_Comm stub_comm(const int *ranks, int count);

/* Comparisons that Open MPI would have made in MPI_Group_translate_ranks. */
extern int64_t stub_comparisons;

#endif
