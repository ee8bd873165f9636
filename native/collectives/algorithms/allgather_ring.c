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
    return cost_fabric_near(comm, nodes - 1, all * (nodes - 1) / nodes) + 2 * cost_node(comm, all / nodes) +
           cost_node(comm, all) / 4;
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes * comm->ranks);
}

static int to_node(void *given, int member)
{
    const struct by_node *by_node = given;
    return node_bcast(by_node->comm, 0, by_node->all + by_node->node_at[member], by_node->node_bytes[member]);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    struct by_node by_node;
    struct group leaders = group_near(comm, 0);
    int error = by_node_start(&by_node, comm, call), nodes = comm->topology.nodes;
    const int own = group_of_node(&leaders, comm->topology.node);
    if (error == MPI_SUCCESS && leaders.me >= 0) {
        struct blocks blocks = {.bytes = by_node.node_bytes, .at = by_node.node_at};
        struct arrival arrival = {to_node, &by_node};
        error = group_allgather_ring(&leaders, by_node.all + by_node.node_at[own], by_node.all, &blocks, segment,
                                     comm->topology.locals > 1 ? &arrival : NULL);
    } else
        for (int i = 0; i < nodes && error == MPI_SUCCESS; i++)
            error = to_node(&by_node, (own - i + nodes) % nodes);
    by_node_end(&by_node, call, error == MPI_SUCCESS);
    return error;
}

static const char meaning[] =
    "Gathered on each node; a ring of one rank of each hands the nodes' parts around, to the node while the next comes.";
static const char reference[] = "Chan et al.: Collective communication: theory, practice, and experience (2007)";

const struct algorithm allgather_ring = {
    .name = "allgather_ring",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_node,
    .run = run,
};

const struct algorithm allgatherv_ring = {
    .name = "allgatherv_ring",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_by_node,
    .run = run,
};
