#include "../group/cost.h"
#include "../node/bcast.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_pulls(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return 2 * comm->costs.node_latency + comm->costs.pull_call + (double)shape->bytes * comm->costs.pull_byte * 0.45;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_bcast_pull(comm, call->root, call->receive, call->bytes);
}

const struct algorithm bcast_pull = {
    .name = "bcast_pull",
    .collective = COLL_BCAST,
    .meaning =
        "Single copy: everybody reads the first part of the root's memory, which writes the rest of theirs meanwhile.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
