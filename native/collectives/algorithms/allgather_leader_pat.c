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
    struct by_node by_node;
    struct group leaders = group_near(comm, 0);
    int error = by_node_start(&by_node, comm, call), last = group_of_node(&leaders, comm->topology.nodes - 1);
    if (error == MPI_SUCCESS && leaders.me >= 0) {
        struct blocks blocks = {.bytes = by_node.node_bytes, .at = by_node.node_at};
        error = group_allgather_pat(&leaders, by_node.all + by_node.node_at[leaders.me], by_node.all, &blocks);
    }
    if (error == MPI_SUCCESS)
        error = node_bcast(comm, 0, by_node.all, by_node.node_at[last] + by_node.node_bytes[last]);
    by_node_end(&by_node, call, error == MPI_SUCCESS);
    return error;
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
