#include "../group/nodes.h"
#include "../group/postal_tree.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    struct postal postal;
    return group_postal(comm, comm->topology.nodes, shape->bytes, true, &postal) +
           cost_node(comm, (double)shape->bytes * comm->topology.most);
}

/* And what the node has combined. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    return (group_reduce_postal_vectors(comm, comm->topology.nodes, shape->bytes) + 1) * shape->bytes;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_reduce(comm, call, group_reduce_postal);
}

const struct algorithm reduce_leader_postal = {
    .name = "reduce_leader_postal",
    .collective = COLL_REDUCE,
    .meaning =
        "Combined on each node, then up a tree of one rank of each in which so many messages come to a rank one after the other as a "
        "message's cost says.",
    .reference = POSTAL_REFERENCE,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
