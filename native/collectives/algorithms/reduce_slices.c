#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/reduce.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) &&
           shape->element * comm->ranks <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 2.5, 0.15) + cost_wait(comm) +
           (double)shape->bytes * comm->costs.node_byte * 1.2 * (comm->ranks - 1) / comm->ranks;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return node_reduce_slices(comm, call->root, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm reduce_slices = {
    .name = "reduce_slices",
    .collective = COLL_REDUCE,
    .meaning =
        "In chunks through shared memory; of each chunk every rank combines one slice, and the root collects them.",
    .reference = "",
    .segment = 32768,
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
