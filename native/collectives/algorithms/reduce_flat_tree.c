#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int levels = cost_levels(comm->ranks, 2);
    double bytes = (double)shape->bytes;
    return cost_fabric(comm, levels, levels * bytes) + cost_combine(comm, levels * bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_reduce_tree(&all, call->root, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm reduce_flat_tree = {
    .name = "reduce_flat_tree",
    .collective = COLL_REDUCE,
    .meaning = "A binomial tree over all ranks, as if each had a node to itself.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_two_vectors,
    .run = run,
};
