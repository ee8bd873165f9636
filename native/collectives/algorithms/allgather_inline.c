#include "../group/cost.h"
#include "../node/allgather.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.7, 0.1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allgather_inline(comm, call->send, call->receive, call->bytes);
}

const struct algorithm allgather_inline = {
    .name = "allgather_inline",
    .collective = COLL_ALLGATHER,
    .meaning = "Everybody posts its block in the cache line of its flag, and reads those of all others.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
