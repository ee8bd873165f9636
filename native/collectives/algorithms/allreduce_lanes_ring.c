#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.least > 1 && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_lanes(comm, bytes) + cost_ring(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, 2 * (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_lanes(comm, call, group_allreduce_ring);
}

const struct algorithm allreduce_lanes_ring = {
    .name = "allreduce_lanes_ring",
    .collective = COLL_ALLREDUCE,
    .meaning = "Each rank of a node combines its part of the vector and drives a ring of nodes with it.",
    .reference = "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_lanes,
    .run = run,
};
