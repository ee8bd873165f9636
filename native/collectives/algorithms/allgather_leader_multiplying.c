#include "../group/allgather_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks;
    return rounds_folding(comm, nodes, all).cost + cost_fabric(comm, 0, all * (nodes - 1) / nodes) +
           cost_node(comm, all / nodes) + 2 * cost_node(comm, all);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return by_node_run(comm, call, group_allgather_multiplying);
}

static const char meaning[] =
    "Gathered on each node, exchanged among several leaders at once, far ones first, handed out on each node.";
static const char reference[] =
    "Jocksch et al.: Optimised allgatherv, reduce_scatter and allreduce communication in message-passing systems (2020)";

const struct algorithm allgather_leader_multiplying = {
    .name = "allgather_leader_multiplying",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_by_leaders,
    .run = run,
};

const struct algorithm allgatherv_leader_multiplying = {
    .name = "allgatherv_leader_multiplying",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_by_leaders,
    .run = run,
};
