#include "../group/nodes.h"
#include "../group/reduce_scatter_leaders.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

/* A message for each block, several under way at a time; both ways on one connection: 1.1. One beyond a power of two gives away all
   it has at the start. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int nodes = comm->topology.nodes;
    const double all = (double)shape->bytes * comm->ranks;
    const double messages = cost_levels(power_below(nodes), 2) + (nodes - 1) / 4.,
                 again = power_below(nodes) == nodes ? 0 : 1;
    return cost_fabric(comm, messages + again, (1.1 * (nodes - 1) / nodes + again) * all) + cost_node(comm, all) +
           cost_node(comm, all / nodes) + cost_combine(comm, (1 + again) * all);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static struct crossing crosses_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_NEAR, shape->commutative, (double)shape->bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_NEAR, shape->commutative, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_leaders(comm, call, group_reduce_scatter_near);
}

static const char meaning[] =
    "Combined on each node, then by recursive halving of one rank of each with the nearest first, so that most goes between "
    "nodes that are near; handed out on the node.";
static const char reference[] = "Rabenseifner: Optimization of collective reduction operations (2004)";

const struct algorithm reduce_scatter_near = {
    .name = "reduce_scatter_near",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .crosses = crosses_v,
    .scratch = scratch_four_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_near = {
    .name = "reduce_scatter_block_near",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_all_four_times,
    .run = run,
};
