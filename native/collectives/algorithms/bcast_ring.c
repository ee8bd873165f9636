#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->bytes >= comm->topology.nodes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double bytes = (double)shape->bytes;
    /* Whole messages that wait for one another: 1.3. */
    return cost_fabric(comm, cost_levels(nodes, 2), 0) +
           cost_fabric_near(comm, nodes - 1, 1.3 * 2 * bytes * (nodes - 1) / nodes) +
           nodes * cost_node(comm, bytes / nodes / 4);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing_both(cost_crossing(comm, CROSSING_SCATTER, true, (double)shape->bytes),
                              cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes));
}

struct context {
    struct coll_comm *comm;
    char *data;
    int64_t bytes;
    int root, leader; /* a member's number, and a local one */
};

static int to_node(void *given, int block)
{
    const struct context *context = given;
    int nodes = context->comm->topology.nodes;
    struct span span = part_of(context->bytes, (block - context->root + nodes) % nodes, nodes);
    return node_bcast(context->comm, context->leader, context->data + span.from, span.to - span.from);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    int root = group_of_node(&leaders, topology->node_of[call->root]), nodes = topology->nodes;
    int own = group_of_node(&leaders, topology->node);
    struct context context = {comm, call->receive, call->bytes, root, leaders.lane % topology->locals};
    struct arrival arrival = {to_node, &context};
    if (leaders.me >= 0)
        return group_bcast_scatter(&leaders, root, call->receive, call->bytes, topology->locals > 1 ? &arrival : NULL);
    int error = MPI_SUCCESS;
    for (int i = 0; i < nodes && error == MPI_SUCCESS; i++)
        error = to_node(&context, (own - i + nodes) % nodes);
    return error;
}

const struct algorithm bcast_ring = {
    .name = "bcast_ring",
    .collective = COLL_BCAST,
    .meaning =
        "One part for each node, which a ring of nodes hands around; each node hands a part on while the next comes.",
    .reference = "Barnett et al., Interprocessor collective communication library (1994)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
