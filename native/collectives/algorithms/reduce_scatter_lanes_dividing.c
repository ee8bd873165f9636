#include "../group/nodes.h"
#include "../group/reduce_scatter_nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.regular && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double all = (double)shape->bytes * comm->ranks, nodes = comm->topology.nodes;
    double rounds =
        rounds_folding(comm, comm->topology.nodes, all / comm->topology.most).cost / comm->costs.fabric_latency;
    return cost_fabric_shared(comm, rounds, all * (nodes - 1) / nodes) + 2 * cost_node(comm, all) +
           all / comm->topology.most * comm->costs.node_byte + cost_combine(comm, all / comm->topology.most);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

/* All blocks by lane, the lane's sum of the node, the same by place, and what comes at once, at most twice as much: where one lane
   has nearly everything. */
static int64_t scratch_v(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return 5 * shape->bytes;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return reduce_scatter_through_lanes(comm, call, group_reduce_scatter_dividing);
}

static const char meaning[] =
    "Each rank of a node combines the blocks of its lane, and the lane parts of parts among several at once, near ones first.";
static const char reference[] =
    "Jocksch et al.: Optimised allgatherv, reduce_scatter and allreduce communication in message-passing systems (2020)";

const struct algorithm reduce_scatter_lanes_dividing = {
    .name = "reduce_scatter_lanes_dividing",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = scratch_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_lanes_dividing = {
    .name = "reduce_scatter_block_lanes_dividing",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_thrice,
    .run = run,
};
