#include "../group/nodes.h"

/* Sending three small messages takes a little longer than one; waiting for one more level takes twice as long. */
enum { RADIX = 4 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int levels = cost_levels(comm->topology.nodes, RADIX);
    double bytes = (double)shape->bytes;
    return cost_fabric(comm, levels * 1.2, levels * bytes * (RADIX - 1)) + cost_node(comm, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    struct group leaders = group_lane(comm, topology->local_of[call->root]);
    int error = MPI_SUCCESS;
    if (leaders.me >= 0)
        error = group_bcast_tree(&leaders, topology->node_of[call->root], call->receive, call->bytes, RADIX);
    if (error != MPI_SUCCESS)
        return error;
    return node_bcast(comm, leaders.lane % topology->locals, call->receive, call->bytes);
}

const struct algorithm bcast_leader = {
    .name = "bcast_leader",
    .collective = COLL_BCAST,
    .meaning = "A 4-nomial tree over one rank of each node, then the phase of the node.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
