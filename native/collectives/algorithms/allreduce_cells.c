#include "../group/cost.h"
#include "../node/allreduce.h"
#include "../node/cells.h"
#include "../node/copy.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_has_cells(comm->node) && shape->element <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* Where the vectors overflow the cache, cells as long as ours throw out what is wanted next. (Two ranks, 32 MiB: of
       8 MiB slices take 0.86 times as long, of 4 MiB 1.2 times.) */
    bool overflows = 2 * shape->bytes >= copy_streams_from(comm->ranks) / 2;
    return cost_lines(comm, 0.6, 0.15) +
           (double)shape->bytes * comm->costs.node_byte * (overflows ? 0.85 : 0.6) * comm->ranks;
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
    .keeps_order = true,
    .applies = applies,
    .cost = cost,
    .run = run,
};
