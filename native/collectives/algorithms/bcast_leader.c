#include "../group/nodes.h"
#include "../group/radix.h"

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
    double bytes = (double)shape->bytes, sent = 0, doublings = 0;
    for (int64_t stride = 1; stride < comm->topology.nodes; stride *= RADIX) {
        int64_t others = (comm->topology.nodes - 1) / stride;
        int children = others < RADIX - 1 ? (int)others : RADIX - 1;
        sent += children;
        doublings += radix_doublings(children + 1, (int)stride);
    }
    /* A quarter more with each doubling of the distance, where nodes share links. */
    const double far = torus_applies(comm) ? 0 : doublings / 4;
    return cost_fabric(comm, levels * 1.2, (sent + far) * bytes) + cost_node(comm, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_TREE_4, true, (double)shape->bytes);
}

static int to_leaders(const struct group *leaders, int root, void *data, int64_t bytes)
{
    return group_bcast_tree(leaders, root, data, bytes, RADIX);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_bcast(comm, call, to_leaders);
}

const struct algorithm bcast_leader = {
    .name = "bcast_leader",
    .collective = COLL_BCAST,
    .meaning = "A 4-nomial tree over one rank of each node, then the phase of the node.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
