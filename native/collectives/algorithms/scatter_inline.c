#include "../group/cost.h"
#include "../node/node.h"
#include "../node/pairs.h"
#include "../node/rooted.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_queues(comm->node) && shape->bytes <= PAIR_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.6, 0.1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_scatter_inline(comm, call->root, call->send, call->receive, call->bytes);
}

const struct algorithm scatter_inline = {
    .name = "scatter_inline",
    .collective = COLL_SCATTER,
    .meaning = "The root posts all blocks in the cache line of one flag, or each in that of a flag for its rank alone.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
