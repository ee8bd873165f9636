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
    double half = (double)shape->bytes * comm->ranks / 2;
    return cost_fabric(comm, levels, levels * half * comm->topology.most) + 6 * levels * half * comm->costs.node_byte;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_alltoall_bruck(&all, call->send, call->receive, call->bytes);
}

const struct algorithm alltoall_flat_bruck = {
    .name = "alltoall_flat_bruck",
    .collective = COLL_ALLTOALL,
    .meaning = "Bruck over all ranks, as if each had a node to itself.",
    .reference =
        "Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_thrice,
    .run = run,
};
