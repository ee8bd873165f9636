/* Allgather(v) on a cuboid of nodes. */
#ifndef UNISONO_TORUS_ALLGATHER_H
#define UNISONO_TORUS_ALLGATHER_H

#include "bcast.h"

static inline int64_t allgather_bytes(const struct call *call, int rank)
{
    return call->collective == COLL_ALLGATHERV ? call->receive_bytes[rank] : call->bytes;
}

static inline int64_t allgather_at(const struct call *call, int rank)
{
    return call->collective == COLL_ALLGATHERV ? call->receive_at[rank] : rank * call->bytes;
}

/* Gathered at rank 0, dimension by dimension, and broadcast (Fujitsu 2014). */
int torus_gather_bcast(struct coll_comm *comm, const struct call *call, struct torus_way way, int64_t segment);
double torus_gather_bcast_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment);

/* Rings in one dimension after the other, all dimensions and both directions at once with parts of the data; each process
 * drives its own block. On a torus that wraps, the same number of ranks on each node. */
int torus_rings(struct coll_comm *comm, const struct call *call);
double torus_rings_cost(const struct coll_comm *comm, int64_t bytes);
bool torus_rings_apply(const struct coll_comm *comm);

#endif
