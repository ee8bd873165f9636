#include "../group/cost.h"
#include "../node/allreduce.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) &&
           shape->element * comm->ranks <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* All that a rank copies, and what it combines, which goes into shared memory and costs more than a copy. */
    double copies = 1 + 2.7 * (comm->ranks - 1) / comm->ranks;
    return cost_lines(comm, 2.5, 0.15) + cost_wait(comm) + (double)shape->bytes * comm->costs.node_byte * 0.6 * copies;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return node_allreduce_slices(comm, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm allreduce_slices = {
    .name = "allreduce_slices",
    .collective = COLL_ALLREDUCE,
    .meaning = "In chunks through shared memory; of each chunk every rank combines one slice for all.",
    .reference = "",
    .segment = 32768,
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
