/* Allreduce on a cuboid of nodes as reduce and broadcast along the same trees, segment by segment. */
#ifndef UNISONO_TORUS_ALLREDUCE_H
#define UNISONO_TORUS_ALLREDUCE_H

#include "bcast.h"

/* Elements that each of `drivers` local ranks has to do with: at[local] to at[local + 1]; local ranks after them have
 * none. `slices`: how many equal parts there are, dealt out as torus_driver() does. at[locals + 1] is not written. */
void torus_slices(int64_t count, int slices, int drivers, int locals, int64_t *at);
static inline int64_t torus_slice(int64_t count, int slices, int slice)
{
    return count / slices * slice + count % slices * slice / slices;
}

/* The node's part combined at its drivers; then, given what the drivers did, everybody's whole vector. `at` as above. */
int torus_to_drivers(struct coll_comm *comm, const struct call *call, int drivers, const int64_t *at);
int torus_from_drivers(struct coll_comm *comm, const struct call *call, int drivers, const int64_t *at);

/* Seconds of both. */
double torus_node_cost(const struct coll_comm *comm, int64_t bytes, int drivers);

int torus_allreduce(struct coll_comm *comm, struct torus_way way, const struct call *call, int64_t segment);
double torus_allreduce_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment);

#endif
