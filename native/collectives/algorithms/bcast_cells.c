#include "../group/cost.h"
#include "../node/bcast.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_cells(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 0.6, 0.05) + (double)shape->bytes * comm->costs.node_byte * 0.27;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return node_bcast_cells(comm, call->root, call->receive, call->bytes, segment);
}

const struct algorithm bcast_cells = {
    .name = "bcast_cells",
    .collective = COLL_BCAST,
    .meaning = "Through cells of shared memory, of which the root writes one while the others read those before.",
    .reference = "",
    .segment = BCAST_SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
