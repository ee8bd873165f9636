#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_fabric(comm, cost_levels(comm->topology.nodes, 2), 0) + 2 * cost_node(comm, 0);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)call, (void)segment;
    struct group leaders = group_lane(comm, 0);
    int error = node_barrier(comm);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = group_barrier(&leaders);
    return error == MPI_SUCCESS ? node_barrier(comm) : error;
}

const struct algorithm barrier_leader = {
    .name = "barrier_leader",
    .collective = COLL_BARRIER,
    .meaning = "The node's barrier, dissemination over one rank of each node, the node's barrier.",
    .reference = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization (1988)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
