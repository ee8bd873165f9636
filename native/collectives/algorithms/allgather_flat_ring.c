#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_fabric(comm, comm->ranks - 1, (double)shape->bytes * (comm->ranks - 1));
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    struct group all = group_everybody(comm);
    struct blocks blocks = nodes_blocks(call);
    return group_allgather_ring(&all, call->send, call->receive, &blocks, segment, NULL);
}

static const char meaning[] = "A ring of all ranks, as if each had a node to itself.";
static const char reference[] = "Chan et al.: Collective communication: theory, practice, and experience (2007)";

const struct algorithm allgather_flat_ring = {
    .name = "allgather_flat_ring",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm allgatherv_flat_ring = {
    .name = "allgatherv_flat_ring",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
