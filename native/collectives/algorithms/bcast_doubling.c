#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && group_doubles(comm->topology.nodes) && shape->bytes >= comm->topology.nodes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double bytes = (double)shape->bytes;
    /* Whole messages that wait for one another: 1.3. */
    return cost_fabric(comm, 2 * cost_levels(nodes, 2), 1.3 * 2 * bytes * (nodes - 1) / nodes) + cost_node(comm, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing_both(cost_crossing(comm, CROSSING_SCATTER, true, (double)shape->bytes),
                              cost_crossing(comm, CROSSING_GROWING, true, (double)shape->bytes));
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_bcast(comm, call, group_bcast_scatter_doubling);
}

const struct algorithm bcast_doubling = {
    .name = "bcast_doubling",
    .collective = COLL_BCAST,
    .meaning =
        "One part for each node, down a tree; then all parts by recursive doubling, and the node. Where the number of "
        "nodes is a power of two.",
    .reference = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
