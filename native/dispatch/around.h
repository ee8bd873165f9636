/* Whom the ranks of a communicator with a topology have as neighbours: found once, when one of ours is to serve them first.
 *
 * Whether all can be served the ranks have to agree on. Where they may wait for one another they do so once. Nonblocking calls
 * must not: there what is agreed on comes with the offer of memory (offer.h), and until a rank has heard it, it counts what it
 * begins as the MPI library's. */
#ifndef UNISONO_AROUND_H
#define UNISONO_AROUND_H

#include "collectives.h"

struct comm_state;
struct layout;

/* The arrays are by block, in the order of MPI's: `in` of the sources, `out` of the targets. */
struct around {
    bool is_good;             /* as far as this rank sees by itself */
    bool is_agreed, is_heard; /* by ranks that waited for one another; by this one, where none does */
    bool possible;            /* the same on all ranks that know it */
    int64_t most;             /* neighbours that a rank has on one side, on the rank that has most; 1 at least */
    struct neighbours near;
    struct around_side {
        int64_t *bytes, *at;
        struct layout *layouts; /* of alltoallw; NULL until then */
        MPI_Count *counts;      /* what dispatch makes of the call's own: 0 where there is nobody */
        MPI_Aint *places;
    } out, in;
};

/* Collective the first time. Not possible: the communicator has no topology; a rank has the same neighbour twice, of which MPI
 * libraries do not mean the same (a torus that is two ranks wide); or one takes for its neighbour who does not know it. */
struct around *around_of(struct comm_state *state);
/* The same on the program's communicator, where nothing of ours may be there yet. */
struct around *around_of_user(struct comm_state *state);

/* What ranks say of it: the greatest of one, and the other added up, tell all of them. */
struct around_said {
    int64_t most;
    uint64_t unmatched;
};

/* Local: what this rank says; not where it is agreed already, which is the same on all ranks. */
bool around_says(struct comm_state *state, struct around_said *said);
/* Local: what all together have said. */
void around_hear(struct comm_state *state, const struct around_said *all);
/* Local, for nonblocking calls: NULL, where it is not possible, or this rank does not know. */
struct around *around_known(struct comm_state *state);
void around_free(struct around *around);

/* Local: how many targets and sources a rank has; false: the communicator has no topology. */
bool around_count(MPI_Comm comm, int *targets, int *sources);

#endif
