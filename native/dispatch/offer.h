/* Memory for nonblocking calls (../collectives/node/posts.h) of a communicator on which ranks never have to meet: a program may
 * make nonblocking calls there alone, and a call that does not block must not wait for other ranks.
 *
 * At the same call on all ranks, which is counted, one of them makes the memory and begins a broadcast of where it lies, on the
 * program's own communicator; that does not block either, and all ranks begin it between the same two calls of the program, so
 * that it never meets these. At later calls each rank looks whether it has heard, and then takes the memory. Until all have it,
 * and where one cannot have it, calls are the MPI library's. */
#ifndef UNISONO_OFFER_H
#define UNISONO_OFFER_H

#include "comm_state.h"

/* Local, and at the same call of all ranks. */
void offer_begin(struct comm_state *state);
/* At later calls, as long as state->offer is there. Local. */
void offer_follow(struct comm_state *state);
/* Collective: waits until this rank has heard of it. False: meanwhile the communicator has ended, and its state with it. */
bool offer_await(struct comm_state *state);
/* The communicator ends: collective. False: it has ended already. */
bool offer_end(struct comm_state *state);
/* The communicator has ended, and nothing was waited for. The broadcast may be under way and needs its memory, which stays. */
void offer_leave(struct comm_state *state);

#endif
