#include "../group/nodes.h"
#include "../group/rounds.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return rounds_disseminating(comm, comm->topology.nodes).cost + 2 * cost_node(comm, 0);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)call, (void)segment;
    struct group leaders = group_lane(comm, 0);
    int error = node_barrier(comm);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = group_barrier_radix(&leaders);
    return error == MPI_SUCCESS ? node_barrier(comm) : error;
}

const struct algorithm barrier_leader_radix = {
    .name = "barrier_leader_radix",
    .collective = COLL_BARRIER,
    .meaning =
        "The node's barrier, dissemination over one rank of each node with several messages at once, the node's barrier.",
    .reference = "Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand (2006)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
