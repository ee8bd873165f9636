#include "torus/exchange.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm) && comm->topology.regular;
}

/* A quarter more than the bound: half-way round, routers take one way (torus/spread.h). */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_exchange_cost(comm, shape->bytes, comm->topology.most * (comm->topology.nodes - 1.0), 1.25);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return torus_exchange(comm, call, SPREAD_SIMPLE);
}

static const char meaning[] =
    "Every process to every other, near nodes first, all nodes the same way at each step, opposite "
    "directions and other dimensions in turn.";

const struct algorithm alltoall_simple_spread = {
    .name = "alltoall_simple_spread",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = "Fujitsu (2014)",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_simple_spread = {
    .name = "alltoallv_simple_spread",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = "Fujitsu (2014)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
