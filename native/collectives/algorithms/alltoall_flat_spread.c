#include "../group/exchange_counts.h"
#include "../group/nodes.h"

enum { WINDOW = 32 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double away = (double)shape->bytes * (comm->ranks - 1) * cost_away(comm) * comm->topology.most;
    return cost_fabric_unpaced(comm, (comm->ranks - 1) / 2.0 + 1, away);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    struct blocks out = counts_send(call), in = counts_receive(call);
    return group_alltoall_spread(&all, call->send, &out, call->receive, &in, WINDOW);
}

static const char meaning[] =
    "Everybody at once from the next rank on, as if each rank had a node to itself; 32 partners at a time.";

const struct algorithm alltoall_flat_spread = {
    .name = "alltoall_flat_spread",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_flat_spread = {
    .name = "alltoallv_flat_spread",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost_v,
    .run = run,
};
