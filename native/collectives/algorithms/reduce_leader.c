#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int levels = cost_levels(comm->topology.nodes, 2);
    double bytes = (double)shape->bytes;
    return cost_fabric(comm, levels, levels * bytes) + cost_combine(comm, levels * bytes) +
           cost_node(comm, bytes * comm->topology.most);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_TREE, shape->commutative, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_reduce(comm, call, group_reduce_tree);
}

const struct algorithm reduce_leader = {
    .name = "reduce_leader",
    .collective = COLL_REDUCE,
    .meaning = "Combined on each node, then up a binomial tree of one rank of each.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_three_vectors,
    .run = run,
};
