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
    (void)shape;
    return cost_lines(comm, 1, 0.2);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_alltoallv_cells(comm, call->send, call->send_bytes, call->send_at, call->receive, call->receive_bytes,
                                call->receive_at);
}

const struct algorithm alltoallv_cells = {
    .name = "alltoallv_cells",
    .collective = COLL_ALLTOALLV,
    .meaning = "Each block beside a flag or piece by piece through cells, as its two ranks see by its length.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
