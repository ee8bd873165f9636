/* Whom the ranks of a communicator with a topology have as neighbours: found once, when one of ours is to serve them first. */
#ifndef UNISONO_AROUND_H
#define UNISONO_AROUND_H

#include "collectives.h"

struct comm_state;
struct layout;

/* The arrays are by block, in the order of MPI's: `in` of the sources, `out` of the targets. */
struct around {
    bool possible; /* the same on all ranks */
    int64_t most;  /* neighbours that a rank has on one side, on the rank that has most; 1 at least */
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
void around_free(struct around *around);

/* Local: how many targets and sources a rank has; false: the communicator has no topology. */
bool around_count(MPI_Comm comm, int *targets, int *sources);

#endif
