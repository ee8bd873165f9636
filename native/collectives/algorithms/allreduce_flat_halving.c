#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_halving(comm, comm->ranks, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_allreduce_halving(&all, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_flat_halving = {
    .name = "allreduce_flat_halving",
    .collective = COLL_ALLREDUCE,
    .meaning = "Recursive halving and doubling over all ranks, as if each had a node to itself.",
    .reference = "Rabenseifner: Optimization of collective reduction operations (2004)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_vector,
    .run = run,
};
