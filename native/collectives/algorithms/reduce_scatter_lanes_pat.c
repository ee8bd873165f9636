#include "../group/nodes.h"
#include "../group/reduce_scatter_nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.regular && shape->commutative;
}

/* What goes around everybody crosses more borders than circles of neighbours do: 1.1, as simulated. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double all = (double)shape->bytes * comm->ranks, nodes = comm->topology.nodes;
    double rounds =
        1.1 * rounds_covering(comm, comm->topology.nodes, all / comm->topology.most).cost / comm->costs.fabric_latency;
    return cost_fabric_shared(comm, rounds, all * (nodes - 1) / nodes) + 2 * cost_node(comm, all) +
           all / comm->topology.most * comm->costs.node_byte + cost_combine(comm, all / comm->topology.most);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

/* All blocks by lane, the lane's sum of the node, the same again and packed, and what comes at once, at most twice as much: where one
   lane has nearly everything. */
static int64_t scratch_v(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return 6 * shape->bytes;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_lanes(comm, call, group_reduce_scatter_pat);
}

static const char meaning[] =
    "Each rank of a node combines the blocks of its lane, which then go up trees that end at every rank of the lane, near ones first.";
static const char reference[] =
    "Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale (2025)";

const struct algorithm reduce_scatter_lanes_pat = {
    .name = "reduce_scatter_lanes_pat",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = scratch_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_lanes_pat = {
    .name = "reduce_scatter_block_lanes_pat",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_four_times,
    .run = run,
};
