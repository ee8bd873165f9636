/* Algorithms of Open MPI's coll/libnbc, which serves its nonblocking collectives on one node and on several. In each call that
 * begins one it looks at a control variable (MPI_T, coll_libnbc_<collective>_algorithm) and makes its schedule by it. So a call
 * that a rule gives to one of them begins with the variable set; what follows is the MPI library's own. The schedule of a persistent
 * one is made when its request is, and all its starts go by that: there the variable is set while MPI_X_init makes it.
 *
 * Ranks must take the same algorithm, or their messages would not meet: rules go by the message size and by where ranks are, and
 * whether the variables can be written is agreed on at the start. Variables belong to the whole process, so with
 * MPI_THREAD_MULTIPLE they are left alone. */
#ifndef UNISONO_LIBNBC_H
#define UNISONO_LIBNBC_H

#include "collectives.h"

/* Once, after the rules were read. Collective over MPI_COMM_WORLD. Whether any call may be given to one. */
bool libnbc_start(void);
void libnbc_end(void);

/* Whether any call of the collective, of either form, may be given to one. */
bool libnbc_wants(enum collective collective);
/* This call begins next, or, where `collective` is persistent, its request is made. What serves it, NULL: whatever the MPI library takes
 * by itself. Local. dispatch_release() afterwards. `op`: of what reduces. */
const struct implementation *libnbc_hold(MPI_Comm comm, enum collective collective, int64_t bytes, MPI_Op op);

/* What serves this persistent one, if it is the one that was made last, after dispatch_before_init(), and how many bytes it moves; NULL: as above. */
const struct implementation *libnbc_of_made(enum collective collective, int64_t *bytes);

#endif
