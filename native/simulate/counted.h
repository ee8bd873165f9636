/* Messages that are counted instead of simulated: bytes from node to node, and what the links of the platform carry of them. */
#ifndef UNISONO_SIMULATE_COUNTED_H
#define UNISONO_SIMULATE_COUNTED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct loads {
    double link; /* bytes on the fullest link, in one direction */
    double node; /* that the fullest node sends, or receives */
    double all;  /* that go from one node to another */
};

/* From now on messages of our collectives are handed over at once. Collective: all ranks of MPI_COMM_WORLD. */
void counted_start(int rank, int ranks);
bool counted_is_on(void);

/* Forgets what was counted: on all ranks, with a barrier before and after. */
void counted_clear(void);
struct loads counted_loads(void);

/* As MPI's, among all ranks in their order; a message is through as soon as it is sent. */
int counted_send(const void *data, int64_t bytes, int to, int tag, MPI_Comm on);
int counted_receive(void *data, int64_t bytes, int from, int tag, MPI_Comm on, MPI_Request *request);

/* Which one is through, and is null then; -1: all are null, or (unless `waits`) none is through. */
int counted_wait(int count, MPI_Request requests[], bool waits);

#endif
