#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    int ranks = comm->ranks;
    return cost_fabric(comm, cost_levels(ranks, 2) + ranks - 1, 2 * bytes * (ranks - 1) / ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_bcast_scatter(&all, call->root, call->receive, call->bytes, NULL);
}

const struct algorithm bcast_flat_ring = {
    .name = "bcast_flat_ring",
    .collective = COLL_BCAST,
    .meaning = "One part for each rank, which a ring of all ranks hands around, as if each had a node to itself.",
    .reference = "Barnett et al., Interprocessor collective communication library (1994)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
