#include "../group/nodes.h"
#include "../group/reduce_scatter_leaders.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const double all = (double)shape->bytes * comm->ranks, nodes = comm->topology.nodes;
    return cost_fabric_near(comm, nodes - 1, all * (nodes - 1) / nodes) + cost_node(comm, all) +
           cost_node(comm, all / nodes) + cost_combine(comm, all);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static struct crossing crosses_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_leaders(comm, call, group_reduce_scatter_ring);
}

static const char meaning[] =
    "Combined on each node, then once around a ring of one rank of each, and handed out on the node.";
static const char reference[] =
    "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations (2009)";

const struct algorithm reduce_scatter_ring = {
    .name = "reduce_scatter_ring",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .crosses = crosses_v,
    .scratch = scratch_three_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_ring = {
    .name = "reduce_scatter_block_ring",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_all_thrice,
    .run = run,
};
