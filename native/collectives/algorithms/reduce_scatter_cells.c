#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/reduce_scatter.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) &&
           shape->element * comm->ranks <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 1, 0.15) + 1.3 * (double)shape->bytes * (comm->ranks - 1) * comm->costs.node_byte;
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_scatter_cells(comm, call->send, call->receive, call->send_bytes, call->send_at,
                                     &call->reduction);
}

static const char meaning[] =
    "Piece by piece through cells: everybody combines its own block of what the others have copied there.";

const struct algorithm reduce_scatter_cells = {
    .name = "reduce_scatter_cells",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_cells = {
    .name = "reduce_scatter_block_cells",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
