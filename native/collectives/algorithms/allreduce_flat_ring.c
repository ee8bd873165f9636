#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->ranks > 1 && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_ring(comm, comm->ranks, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_allreduce_ring(&all, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_flat_ring = {
    .name = "allreduce_flat_ring",
    .collective = COLL_ALLREDUCE,
    .meaning = "Twice around a ring of all ranks, as if each had a node to itself.",
    .reference = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations (2009)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_ring,
    .run = run,
};
