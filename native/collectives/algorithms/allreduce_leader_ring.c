#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_leaders(comm, bytes) + cost_ring(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, 2 * (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_ring);
}

const struct algorithm allreduce_leader_ring = {
    .name = "allreduce_leader_ring",
    .collective = COLL_ALLREDUCE,
    .meaning = "Combined on each node, twice around a ring of one rank of each, handed out on each node.",
    .reference = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations (2009)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_ring_of_nodes,
    .run = run,
};
