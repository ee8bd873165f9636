#include "../group/nodes.h"
#include "../group/reduce_scatter_nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.regular && comm->topology.most > 1 && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks, messages = nodes - 1, again = 0;
    if (reduce_scatter_halves(shape->commutative, nodes, all / comm->topology.most)) {
        again = power_below(nodes) == nodes ? 0 : 1;
        messages = cost_levels(nodes, 2) + again;
    }
    return cost_fabric_shared(comm, messages, all * (nodes - 1) / nodes + again * all) +
           cost_distance(comm, nodes, all, true) + 2 * cost_node(comm, all) +
           cost_combine(comm, (1 + again) * all / comm->topology.most);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_lanes(comm, call, group_reduce_scatter);
}

static const char meaning[] =
    "Each rank of a node combines the blocks of its lane, one rank of each node, and its lane combines them between nodes.";
static const char reference[] =
    "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)";

const struct algorithm reduce_scatter_lanes = {
    .name = "reduce_scatter_lanes",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = scratch_two_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_lanes = {
    .name = "reduce_scatter_block_lanes",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};
