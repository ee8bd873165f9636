#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/scan.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) && shape->element <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 0.6, 0.15) + (double)shape->bytes * comm->costs.node_byte * 0.6 * comm->ranks;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_scan_cells(comm, call->send, call->receive, call->count, &call->reduction,
                           call->collective == COLL_EXSCAN);
}

static const char meaning[] =
    "Piece by piece through cells: everybody combines what the ranks before it have copied there.";

const struct algorithm scan_cells = {
    .name = "scan_cells",
    .collective = COLL_SCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm exscan_cells = {
    .name = "exscan_cells",
    .collective = COLL_EXSCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
