#include "../group/cost.h"
#include "../node/allgather.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_cells(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 1, 0.1) + (double)shape->bytes * comm->ranks * comm->costs.node_byte / 2;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allgather_cells(comm, call->send, call->receive, 0, call->receive_bytes, call->receive_at);
}

const struct algorithm allgatherv_cells = {
    .name = "allgatherv_cells",
    .collective = COLL_ALLGATHERV,
    .meaning = "Everybody writes its block into cells of shared memory, a small one beside its flag; all read them.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
