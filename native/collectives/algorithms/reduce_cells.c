#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/reduce.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) && shape->element <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 0.5, 0.1) + (double)shape->bytes * comm->costs.node_byte * 0.3 * (comm->ranks - 1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_cells(comm, call->root, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm reduce_cells = {
    .name = "reduce_cells",
    .collective = COLL_REDUCE,
    .meaning = "Everybody writes its vector into shared memory, the root combines them.",
    .reference = "",
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
