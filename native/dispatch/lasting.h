/* Persistent collectives over several nodes, as schedules of messages (../collectives/requests/schedule.h) that are moved on like those of
 * nonblocking ones (moving.h).
 *
 * Ranks may start them in any order, each its own: they are matched as they are made, in the same order on all ranks. So each has a tag
 * from then on, which no other that any of its ranks has uses. Ranks agree on it when they make the request, where MPI lets
 * them wait for one another (MPI 4.1, 6.13), by one allreduce: usually the least number that is free on each of them. Starts of
 * one follow one another by its tag. It is free again when a rank frees the request: all messages to this rank have been received
 * then, as its last start is over. */
#ifndef UNISONO_LASTING_H
#define UNISONO_LASTING_H

#include "comm_state.h"
#include "nonblocking.h"
#include "requests/schedule.h"

struct lasting;

/* At a persistent collective: collective the first time. The communicator that what is made there is chosen for; NULL on all ranks:
 * it is the MPI library's. */
const struct coll_comm *lasting_comm(struct comm_state *state);
/* The communicator ends: requests on it do not. */
void lasting_end(struct comm_state *state);

/* Collective, on a communicator that has lasting_comm(). NULL, on all ranks: there is no tag left, and it is the MPI library's. */
struct lasting *lasting_make(struct comm_state *state);
struct coll_comm *lasting_of(const struct lasting *lasting);
/* Then: each start is such a call, whose buffers are the same each time, and whose blocks have the lengths that the wish tells. Local, as is
 * all that follows. */
void lasting_set(struct lasting *lasting, const struct call *call, const struct wish *wish);

void lasting_start(struct lasting *lasting);
/* Moves it on. Whether the last start is over, and how. Waits for nobody. */
bool lasting_is_over(struct lasting *lasting, int *error);
/* The program has freed its request; of one that is active MPI forbids it, which goes on all the same. It may be using the memory, which is
 * reserve_get()'s or NULL, and the parts. */
void lasting_leave(struct lasting *lasting, void *sent, void *received, struct parts *parts);

#endif
