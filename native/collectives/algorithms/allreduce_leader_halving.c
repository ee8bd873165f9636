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
    return cost_leaders(comm, bytes) + cost_halving(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_HALVING, shape->commutative, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_halving);
}

const struct algorithm allreduce_leader_halving = {
    .name = "allreduce_leader_halving",
    .collective = COLL_ALLREDUCE,
    .meaning = "Combined on each node, recursive halving and doubling over one rank of each, handed out on each node.",
    .reference = "Rabenseifner: Optimization of collective reduction operations (2004)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_vector,
    .run = run,
};
