#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.least > 1 && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_lanes(comm, bytes) + cost_doubling(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_DOUBLING, shape->commutative, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_lanes(comm, call, group_allreduce_doubling);
}

const struct algorithm allreduce_lanes = {
    .name = "allreduce_lanes",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Each rank of a node combines its part of the vector and drives recursive doubling between nodes with it.",
    .reference = "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_lanes,
    .run = run,
};
