#include <math.h>

#include "../group/cost.h"
#include "../node/allreduce.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    const int two_groups = 4; /* of fewer ranks there is one group, and its first would only keep the others waiting */
    return comm->topology.nodes == 1 && comm->ranks >= two_groups && node_has_cells(comm->node) &&
           shape->bytes <= comm->node->cell_bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* Where ranks share CPUs those who wait for a group's first wait for its ranks anyway: 4 and 8 ranks of 2 cores took, for 8 B, 0.83 to
       1.17 times as long as by cells (medians of benchmarks/data on an AMD Zen 5 and Intel Xeons, family 6 models 85 and 207). */
    const double wait = 0.1 * cost_wait(comm);
    const int group = (int)ceil(sqrt(comm->ranks)), depth = comm->topology.levels.meet[0];
    return 2 * cost_meet(comm, depth, group, 0.7, 0.15) + wait +
           (double)shape->bytes * comm->costs.node_byte * 0.6 * 2 * sqrt(comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allreduce_groups(comm, call->send, call->receive, call->count, &call->reduction);
}

const struct algorithm allreduce_groups = {
    .name = "allreduce_groups",
    .collective = COLL_ALLREDUCE,
    .meaning = "In two levels: of each group of neighbours one combines for them, everybody combines what those post.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
