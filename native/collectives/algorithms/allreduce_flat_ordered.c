#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->ordered && comm->ranks > 1; /* else others that may combine as they like are quicker */
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* Everybody's part to everybody who combines it, and what was combined around a ring. */
    return 2 * cost_fabric_shared(comm, comm->ranks - 1, (double)shape->bytes * comm->topology.most * cost_away(comm)) +
           cost_combine(comm, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_allreduce_ordered(&all, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_flat_ordered = {
    .name = "allreduce_flat_ordered",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Every rank combines a part of the vector in order of the ranks, wherever they are, and everybody gets all parts.",
    .reference = "",
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_ring,
    .run = run,
};
