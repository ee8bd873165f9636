#include "torus_exchange.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    (void)shape;
    return true;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double others = comm->ranks - 1.0, bytes = others * (double)shape->bytes;
    return others * comm->costs.fabric_latency + bytes * comm->topology.most * comm->costs.fabric_byte;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return ranks_exchange(comm, call);
}

const struct algorithm alltoallv_rank_order = {
    .name = "alltoallv_rank_order",
    .collective = COLL_ALLTOALLV,
    .meaning = "To rank + 1, rank + 2 and so on, two messages at a time, whatever lies between.",
    .reference = "document 002 (B10): the order that the spreads replaced",
    .applies = applies,
    .cost = cost,
    .run = run,
};
