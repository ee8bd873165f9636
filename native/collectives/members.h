/* Which ranks of MPI_COMM_WORLD a communicator has. */
#ifndef UNISONO_MEMBERS_H
#define UNISONO_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>

enum members {
    MEMBERS_FOREIGN, /* a rank was not there at MPI_Init */
    MEMBERS_UNKNOWN, /* to find them out would take too long */
    MEMBERS_WORLD,   /* those of MPI_COMM_WORLD, in its order */
    MEMBERS_KNOWN
};

/* theirs[rank]: the number in `world` (the group of MPI_COMM_WORLD, of so many ranks). Local, and the same on all ranks.
 *
 * Open MPI looks for every rank that is to be translated from rank 0 of the other group on, so that translating all ranks
 * of a large communicator takes minutes. There, ranks are found as most communicators have them: in rows of equal steps,
 * which themselves begin in equal steps. Every guess is verified. That takes time in proportion to the ranks of both; a
 * large communicator (from about 3,000 ranks on) whose ranks follow no such order is MEMBERS_UNKNOWN. */
enum members members_find(MPI_Comm comm, MPI_Group world, int world_ranks, int ranks, int *theirs);

/* Whether all ranks were there at MPI_Init, also where MEMBERS_UNKNOWN was found: every rank is looked for, which under Open MPI takes as
 * many comparisons as half the product of the numbers of ranks, seconds for 100,000. */
bool members_were_there(MPI_Comm comm, MPI_Group world, int ranks, int *theirs);

#endif
