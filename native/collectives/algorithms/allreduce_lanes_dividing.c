#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.least > 1 && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_lanes(comm, bytes) + cost_dividing(comm, comm->topology.nodes, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_lanes(comm, call, group_allreduce_dividing);
}

const struct algorithm allreduce_lanes_dividing = {
    .name = "allreduce_lanes_dividing",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Each rank of a node combines its part, and its lane parts of that among several nodes at once, near ones first.",
    .reference =
        "Jocksch et al.: Optimised allgatherv, reduce_scatter and allreduce communication in message-passing systems (2020)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_lanes,
    .run = run,
};
