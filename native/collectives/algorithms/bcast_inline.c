#include "../group/cost.h"
#include "../node/bcast.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.5, 0.05);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_bcast_inline(comm, call->root, call->receive, call->bytes);
}

const struct algorithm bcast_inline = {
    .name = "bcast_inline",
    .collective = COLL_BCAST,
    .meaning = "In the cache line of the flag that says it is there.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
