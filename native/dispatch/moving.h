/* Schedules of messages (../collectives/requests/schedule.h) that are under way on this rank, whichever form of a call each of them serves.
 * The MPI library calls us whenever it waits (progress.h), and all are moved on then. */
#ifndef UNISONO_MOVING_H
#define UNISONO_MOVING_H

#include "requests/schedule.h"

struct moving {
    struct schedule schedule;
    /* Whether its first messages may be sent. */
    bool (*may_begin)(const struct moving *moving);
    /* It is under way no more: it is over, or has failed. MPI may be amid any call. */
    void (*end)(struct moving *moving, int error);
    struct moving *newer, *older; /* of those under way */
};

/* What the schedule says is begun as far as it may be, and goes on from now on. */
void moving_start(struct moving *moving);
/* All of them, as far as they go: how many have ended. The MPI library may call this amid itself. */
int moving_move(void);
/* Whether any is under way on the communicator. */
bool moving_any(const struct coll_comm *comm);
/* Of those under way, the one that began last; NULL: there is none. */
const struct moving *moving_newest(void);

#endif
