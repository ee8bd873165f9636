#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/reduce_scatter.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes * (comm->ranks - 1) <= LINE_ROOM;
}

static bool applies_v(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.5, 0.15);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_scatter_inline(comm, call->send, call->receive, call->send_bytes, call->send_at,
                                      &call->reduction);
}

static const char meaning[] =
    "Everybody posts its vector in the cache line of its flag, and combines its own block of all.";

const struct algorithm reduce_scatter_inline = {
    .name = "reduce_scatter_inline",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = "",
    .applies = applies_v,
    .cost = cost_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_inline = {
    .name = "reduce_scatter_block_inline",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
