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
    return rounds_bine(comm, nodes, all).cost + cost_fabric(comm, 0, all * (nodes - 1) / nodes) +
           cost_node(comm, all / nodes) + 2 * cost_node(comm, all);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_BINE_GATHER, true, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return by_node_run(comm, call, group_allgather_bine);
}

static const char meaning[] =
    "Gathered on each node, exchanged along Bine butterflies of leaders, far ones first, handed out on each node.";
static const char reference[] =
    "De Sensi et al.: Bine trees: enhancing collective operations by optimizing communication locality (2025)";

const struct algorithm allgather_leader_bine = {
    .name = "allgather_leader_bine",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_leaders,
    .run = run,
};

const struct algorithm allgatherv_leader_bine = {
    .name = "allgatherv_leader_bine",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_leaders,
    .run = run,
};
