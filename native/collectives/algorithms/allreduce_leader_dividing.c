#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_leaders(comm, bytes) + cost_dividing(comm, comm->topology.nodes, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_dividing);
}

const struct algorithm allreduce_leader_dividing = {
    .name = "allreduce_leader_dividing",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Combined on each node, parts of parts among several leaders at once, near ones first, and back, the node.",
    .reference =
        "Jocksch et al.: Optimised allgatherv, reduce_scatter and allreduce communication in message-passing systems (2020)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_vector,
    .run = run,
};
