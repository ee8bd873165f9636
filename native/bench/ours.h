/* The implementations of libunisono.so, where it is preloaded into this program. */
#ifndef UNISONO_OURS_H
#define UNISONO_OURS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "problem.h"
#include "text.h"

/* Collective: "COLLECTIVE:IMPLEMENTATION[,...]" for this communicator. The same answer on all ranks. */
bool ours_use(MPI_Comm comm, const char *words, struct problem *problem);

/* Collective: false, with the sentence, where `words` name this collective but what they name does not apply to messages
 * of this size. */
bool ours_apply(MPI_Comm comm, const char *words, const char *collective, int64_t bytes, struct problem *problem);

/* Until it is told otherwise the library lets every call pass by to the MPI library, as in ranks that it is not preloaded into: so
 * the MPI's own are timed, beside ours. */
void ours_rest(bool rests);

/* Collective over MPI_COMM_WORLD: one answer for each algorithm that can serve it, on rank 0. */
void ours_list(int rank, struct text *answer);

#endif
