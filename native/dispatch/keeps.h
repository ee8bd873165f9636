/* Memory for persistent collectives (../collectives/node/kept.h): which communicators have some, and when it is made.
 *
 * All communicators of the same ranks have one memory together, as these make their requests in the same order on all of them. At
 * a communicator's first, second, fourth ... persistent collective its ranks ask one another, as those calls may wait, by
 * one allreduce: whether all have that memory already, which is usual for copies of MPI_COMM_WORLD; or else whether it is
 * to be made, which takes as long as some 200 starts. That is at once for MPI_COMM_WORLD, for what has been in use for long
 * (peers.h), and for the first few others of a process; then once the MPI library has had to start 2,000 on communicators that
 * came too early. So communicators that do not live long cost little, however many there are. */
#ifndef UNISONO_KEEPS_H
#define UNISONO_KEEPS_H

#include "comm_state.h"
#include "node/kept.h"

/* At a persistent collective that may be ours: collective. What is state->keep then; NULL on all ranks: it is the MPI library's. */
struct keep *keeps_of(struct comm_state *state);
/* Whether that is so because it is too early for more. */
bool keeps_is_early(const struct comm_state *state);

/* One more that has it, and one less. */
void keeps_use(struct keep *keep);
void keeps_leave(struct keep *keep);

/* The MPI library has started one that came too early. */
void keeps_missed(void);

#endif
