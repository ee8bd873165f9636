#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/rooted.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.6, 0.1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_gather_inline(comm, call->root, call->send, call->receive, call->bytes);
}

const struct algorithm gather_inline = {
    .name = "gather_inline",
    .collective = COLL_GATHER,
    .meaning = "Everybody posts its block in the cache line of its flag, and the root reads them.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
