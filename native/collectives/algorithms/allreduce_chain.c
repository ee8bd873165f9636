#include "../group/nodes.h"

extern const struct algorithm reduce_chain, bcast_chain;

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return reduce_chain.cost(comm, shape) + bcast_chain.cost(comm, shape);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_LINE, true, (double)shape->bytes);
}

/* There and back are one after the other: a node sends and receives the vector once each time, so that both at once would not be
   sooner through than its way into the fabric lets them. */
static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    const struct group leaders = group_near(comm, 0);
    struct call part = *call;
    part.collective = COLL_REDUCE;
    part.root = group_rank(&leaders, 0);
    int error = reduce_chain.run(comm, &part, segment);
    part.collective = COLL_BCAST;
    return error == MPI_SUCCESS ? bcast_chain.run(comm, &part, segment) : error;
}

const struct algorithm allreduce_chain = {
    .name = "allreduce_chain",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Segments are combined along a chain of nodes, and follow one another back along it. Between groups of nodes nothing "
        "goes more often than it must.",
    .reference = "Worringen: Pipelining and overlapping for MPI collective operations (2003)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
