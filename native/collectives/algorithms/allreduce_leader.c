#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_leaders(comm, bytes) + cost_doubling(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_DOUBLING, shape->commutative, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_doubling);
}

const struct algorithm allreduce_leader = {
    .name = "allreduce_leader",
    .collective = COLL_ALLREDUCE,
    .meaning = "Combined on each node, recursive doubling over one rank of each, handed out on each node.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_vector,
    .run = run,
};
