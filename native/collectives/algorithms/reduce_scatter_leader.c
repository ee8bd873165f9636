#include "../group/nodes.h"
#include "../group/reduce_scatter_leaders.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static bool halves(const struct coll_comm *comm, const struct shape *shape, double all)
{
    return reduce_scatter_halves(shape->commutative, comm->topology.nodes, all);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks, away = all * (nodes - 1) / nodes, messages = nodes - 1, again = 0;
    if (halves(comm, shape, all)) {
        again = power_below(nodes) == nodes ? 0 : 1;
        messages = cost_levels(nodes, 2) + again;
    }
    return cost_fabric(comm, messages, away + again * all) + cost_distance(comm, nodes, all, true) +
           cost_node(comm, all) + cost_node(comm, all / nodes) + cost_combine(comm, (1 + again) * all);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static struct crossing crosses_v(const struct coll_comm *comm, const struct shape *shape)
{
    const double all = (double)shape->bytes;
    return cost_crossing(comm, halves(comm, shape, all) ? CROSSING_HALVING_FAR : CROSSING_PAIRS, shape->commutative,
                         all);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    struct shape all = *shape;
    all.bytes = shape->bytes * comm->ranks;
    return crosses_v(comm, &all);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_leaders(comm, call, group_reduce_scatter);
}

static const char meaning[] =
    "Combined on each node, then between one rank of each, by halving or pair by pair, and handed out on the node.";
static const char reference[] =
    "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)";

const struct algorithm reduce_scatter_leader = {
    .name = "reduce_scatter_leader",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .crosses = crosses_v,
    .scratch = scratch_three_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_leader = {
    .name = "reduce_scatter_block_leader",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_all_thrice,
    .run = run,
};
