#include "../group/cost.h"
#include "../node/node.h"
#include "../node/rooted.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_queues(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_lines(comm, 0.8, 0.15) + (double)shape->bytes * (comm->ranks - 1) * comm->costs.node_byte;
}

static int gather(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_gather_cells(comm, call->root, call->send, call->receive, call->bytes);
}

static int scatter(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_scatter_cells(comm, call->root, call->send, call->receive, call->bytes);
}

const struct algorithm gather_cells = {
    .name = "gather_cells",
    .collective = COLL_GATHER,
    .meaning = "Each block piece by piece through cells of its sender, all at once; the root takes what has come.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = gather,
};

const struct algorithm scatter_cells = {
    .name = "scatter_cells",
    .collective = COLL_SCATTER,
    .meaning = "Each block piece by piece through cells of the root, to one rank after the other and to all at once.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = scatter,
};
