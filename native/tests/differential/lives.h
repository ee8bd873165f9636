/* Communicators that come and go: made, copied, split and freed at random while cases go on. */
#ifndef UNISONO_TEST_LIVES_H
#define UNISONO_TEST_LIVES_H

#include "calls.h"

enum { LIVES = 6 };

struct lives {
    MPI_Comm comm[LIVES]; /* MPI_COMM_NULL: none, or this rank is not in it */
    bool alive[LIVES];    /* the same on all ranks */
};

void lives_start(struct lives *lives);
/* Collective over MPI_COMM_WORLD, with a `shared` that is the same on all its ranks: one of those that live, after some
 * may have been made or freed. MPI_COMM_NULL where this rank is not in it. */
MPI_Comm lives_draw(struct lives *lives, struct random *shared, int world_rank, struct tally *tally);
void lives_end(struct lives *lives);

#endif
