#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->ordered && comm->ranks > 1; /* else others that may combine as they like are quicker */
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* Everybody's part to everybody who combines it, and what was combined to the root. */
    return 2 * cost_fabric_shared(comm, comm->ranks - 1, (double)shape->bytes * comm->topology.most * cost_away(comm)) +
           cost_combine(comm, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    return group_reduce_ordered(&all, call->root, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm reduce_flat_ordered = {
    .name = "reduce_flat_ordered",
    .collective = COLL_REDUCE,
    .meaning =
        "Every rank combines a part of the vector in order of the ranks, wherever they are, and the root gets all parts.",
    .reference = "",
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_ring,
    .run = run,
};
