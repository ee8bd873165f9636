#include "../group/cost.h"
#include "../node/alltoall.h"
#include "../node/node.h"
#include "../node/pairs.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_queues(comm->node) && shape->bytes <= PAIR_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.6, 0.2);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_alltoall_inline(comm, call->send, call->receive, call->bytes);
}

const struct algorithm alltoall_inline = {
    .name = "alltoall_inline",
    .collective = COLL_ALLTOALL,
    .meaning = "Each block in the cache line of a flag that only its two ranks use.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
