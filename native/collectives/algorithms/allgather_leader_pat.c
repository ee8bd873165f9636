#include "../group/allgather_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

/* What goes around everybody crosses more borders than circles of neighbours do: 1.1, as simulated. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks;
    return 1.1 * rounds_covering(comm, nodes, all).cost + cost_fabric(comm, 0, all * (nodes - 1) / nodes) +
           cost_node(comm, all / nodes) + 2 * cost_node(comm, all);
}

/* Blocks are packed, and unpacked. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    return scratch_by_node(comm, shape) + scratch_all_twice(comm, shape);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return by_node_run(comm, call, group_allgather_pat);
}

static const char meaning[] =
    "Gathered on each node; blocks go down trees that begin at every leader, far ones first; handed out on each node.";
static const char reference[] =
    "Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale (2025)";

const struct algorithm allgather_leader_pat = {
    .name = "allgather_leader_pat",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};

const struct algorithm allgatherv_leader_pat = {
    .name = "allgatherv_leader_pat",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
