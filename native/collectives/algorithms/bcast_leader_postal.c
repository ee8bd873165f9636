#include "../group/nodes.h"
#include "../group/postal_tree.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    struct postal postal;
    return group_postal(comm, comm->topology.nodes, shape->bytes, false, &postal) +
           cost_node(comm, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_bcast(comm, call, group_bcast_postal);
}

const struct algorithm bcast_leader_postal = {
    .name = "bcast_leader_postal",
    .collective = COLL_BCAST,
    .meaning =
        "A tree over one rank of each node in which everybody goes on sending while the first messages are under way, as many as a "
        "message's cost says, then the phase of the node.",
    .reference = POSTAL_REFERENCE,
    .applies = applies,
    .cost = cost,
    .run = run,
};
