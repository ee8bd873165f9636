#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/reduce.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

/* Only the root waits, as in gather_inline. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.4, 0.1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_inline(comm, call->root, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm reduce_inline = {
    .name = "reduce_inline",
    .collective = COLL_REDUCE,
    .meaning = "Everybody posts its vector in the cache line of its flag, and the root combines them.",
    .reference = "",
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
