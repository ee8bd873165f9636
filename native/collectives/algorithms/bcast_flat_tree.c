#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    int levels = cost_levels(comm->ranks, 2);
    return cost_fabric(comm, levels, levels * bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_bcast_tree(&all, call->root, call->receive, call->bytes, 2);
}

const struct algorithm bcast_flat_tree = {
    .name = "bcast_flat_tree",
    .collective = COLL_BCAST,
    .meaning = "A binomial tree over all ranks, as if each had a node to itself.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
