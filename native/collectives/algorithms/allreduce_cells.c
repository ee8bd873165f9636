#include "../node/allreduce.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->element <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->costs.node_latency * (0.6 + 0.15 * comm->ranks) + (double)shape->bytes * comm->costs.node_byte * 0.6 * comm->ranks;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allreduce_cells(comm, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_cells = {
    .name = "allreduce_cells",
    .collective = COLL_ALLREDUCE,
    .meaning = "Everybody writes its vector into shared memory, and combines those of all by itself.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
