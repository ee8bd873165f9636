#include "../group/nodes.h"

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    double piece = bytes < SEGMENT ? bytes : SEGMENT;
    return cost_fabric(comm, comm->ranks - 1 + bytes / SEGMENT, bytes + (comm->ranks - 2) * piece);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    struct group all = group_everybody(comm);
    return group_bcast_pipeline(&all, call->root, call->receive, call->bytes, segment, 1, NULL);
}

const struct algorithm bcast_flat_chain = {
    .name = "bcast_flat_chain",
    .collective = COLL_BCAST,
    .meaning = "Segments follow one another along a chain of all ranks, as if each had a node to itself.",
    .reference = "Watts, van de Geijn: A pipelined broadcast for multidimensional meshes (1995)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
