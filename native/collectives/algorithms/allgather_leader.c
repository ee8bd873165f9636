#include "../group/allgather_nodes.h"
#include "../group/nodes.h"
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
    return cost_fabric(comm, cost_levels(nodes, 2), all * (nodes - 1) / nodes) + cost_distance(comm, nodes, all, true) +
           cost_node(comm, all / nodes) + 2 * cost_node(comm, all);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_BRUCK, true, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return by_node_run(comm, call, group_allgather_bruck);
}

static const char meaning[] = "Gathered on each node, Bruck over one rank of each, handed out on each node.";
static const char reference[] =
    "Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997)";

const struct algorithm allgather_leader = {
    .name = "allgather_leader",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_leaders,
    .run = run,
};

const struct algorithm allgatherv_leader = {
    .name = "allgatherv_leader",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_leaders,
    .run = run,
};
