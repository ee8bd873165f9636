#include "../group/cost.h"
#include "../node/alltoall.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_queues(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 0.8, 0.2) + (double)shape->bytes * comm->ranks * comm->costs.node_byte / 2;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_alltoall_cells(comm, call->send, call->receive, call->bytes);
}

const struct algorithm alltoall_cells = {
    .name = "alltoall_cells",
    .collective = COLL_ALLTOALL,
    .meaning = "Each block piece by piece through cells of its sender, one partner after the other and all at once.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
