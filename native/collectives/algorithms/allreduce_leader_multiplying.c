#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    struct radices radices = rounds_multiplying(comm, comm->topology.nodes, bytes);
    return cost_leaders(comm, bytes) + radices.cost + radices_spread(&radices, bytes * comm->costs.fabric_byte / 4);
}

static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    struct radices radices = rounds_multiplying(comm, comm->topology.nodes, (double)shape->bytes);
    return (rounds_widest(&radices) - 1) * shape->bytes;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_multiplying);
}

const struct algorithm allreduce_leader_multiplying = {
    .name = "allreduce_leader_multiplying",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Combined on each node, whole vectors among several leaders at once, as many as a message's cost says, the node.",
    .reference =
        "Ruefenacht, Bull, Booth: Generalisation of recursive doubling for AllReduce: now with simulation (2017)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
