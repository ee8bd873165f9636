/* Alltoall with one block for each node: on the node each rank first gets from its neighbours what goes to its own number on
 * all nodes. */
#ifndef UNISONO_TORUS_LANES_H
#define UNISONO_TORUS_LANES_H

#include "bcast.h"

/* Everybody to everybody among the ranks of one number, a block for each place, from `send` to `receive`. */
typedef int torus_lane(struct coll_comm *comm, int64_t block, const char *send, char *receive);

/* The nodes are a cuboid with the same number of ranks each. SCRATCH_MORE is the lane's. MPI error codes. */
int torus_by_lanes(struct coll_comm *comm, const struct call *call, torus_lane *lane);
/* Seconds of what is done on the nodes. */
double torus_by_lanes_cost(const struct coll_comm *comm, int64_t bytes);

/* The rank with this one's number at every place; NULL: no memory. To be given to free(). */
int *torus_lane_ranks(const struct coll_comm *comm);

#endif
