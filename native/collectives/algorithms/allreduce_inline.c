#include "../group/cost.h"
#include "../node/allreduce.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.5, 0.15);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allreduce_inline(comm, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_inline = {
    .name = "allreduce_inline",
    .collective = COLL_ALLREDUCE,
    .meaning = "Everybody posts its vector in the cache line of its flag, and combines those of all by itself.",
    .reference = "",
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
