#include "../group/nodes.h"

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->ranks > 1 && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, piece = bytes < SEGMENT ? bytes : SEGMENT;
    int hops = comm->ranks - 2;
    return cost_fabric(comm, hops + 1 + bytes / SEGMENT, hops * piece + bytes) + cost_combine(comm, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    struct group all = group_everybody(comm);
    return group_reduce_chain(&all, call->root, call->send, call->receive, call->count, &call->reduction, segment, NULL,
                              false);
}

const struct algorithm reduce_flat_chain = {
    .name = "reduce_flat_chain",
    .collective = COLL_REDUCE,
    .meaning = "Segments follow one another along a chain of all ranks, as if each had a node to itself.",
    .reference = "Worringen: Pipelining and overlapping for MPI collective operations (2003)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
