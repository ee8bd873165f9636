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
    return cost_doubling(comm, comm->ranks, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_allreduce_doubling(&all, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_flat_doubling = {
    .name = "allreduce_flat_doubling",
    .collective = COLL_ALLREDUCE,
    .meaning = "Recursive doubling over all ranks, as if each had a node to itself.",
    .reference = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_vector,
    .run = run,
};
