/* How much shared memory the ranks of one node may take together, and how much of it is taken.
 *
 * All of it lies in /dev/shm, which is small in many containers, and where the MPI library keeps its own segments; and it
 * counts as memory of the job. So it has a limit: a quarter of what /dev/shm, the node and the cgroups of its ranks have
 * left at the start, never more than ROOM_A_RANK for each rank or ROOM_A_NODE. The environment variable
 * UNISONO_SHARED_MEMORY, in bytes of a node, takes the place of all this; 0: none. What is taken is counted in a page that
 * all ranks of the node share, for all communicators, and which is gone with its last process. */
#ifndef UNISONO_NODE_ROOM_H
#define UNISONO_NODE_ROOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define ROOM_A_RANK (INT64_C(64) << 20)
#define ROOM_A_NODE (INT64_C(2) << 30)

/* Collective over `near`, all ranks of the world on this machine. What cannot be had is no mistake: then there is none.
 * MPI error code. */
int room_start(MPI_Comm near);
void room_end(void);

/* Whether files have names, as some rank of the machine cannot reach them otherwise (common/shared_memory.h). */
bool room_named(void);

/* Bytes in all: the same on all ranks of the machine. 0: no memory is shared. */
int64_t room_limit(void);

/* No single segment should have more than this, so that there may be several. */
static inline int64_t room_share(int64_t most)
{
    int64_t share = room_limit() / 16;
    return share > 0 && share < most ? share : most;
}

/* One rank for all that will use them; false: there is no room for them. */
bool room_take(int64_t bytes);
void room_give(int64_t bytes);

/* Whether so much would take at most a quarter of the memory that is left now, as this rank sees it: the program may have filled its
 * cgroup since the start, and who goes beyond that is not refused but killed. Every rank asks, and all agree on what they found. */
bool room_spares(int64_t bytes);

/* A number that nothing else on the machine has; 0: none. */
int64_t room_number(void);

/* The limit for so many ranks, of what is left in /dev/shm and in memory; for the tests too. */
int64_t room_limit_of(int64_t shared, int64_t memory, int ranks);

/* The bytes that UNISONO_SHARED_MEMORY says; -1: it is no number of them. */
int64_t room_given(const char *text);

#endif
