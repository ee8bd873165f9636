#include "../group/exchange_counts.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double away = (double)shape->bytes * (comm->ranks - 1) * cost_away(comm) * comm->topology.most;
    return cost_fabric_unpaced(comm, comm->ranks - 1, away);
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
    return group_alltoall_pairwise(&all, call->send, &out, call->receive, &in);
}

static const char meaning[] = "One partner after the other, both ways at once, as if each rank had a node to itself.";
static const char reference[] =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)";

const struct algorithm alltoall_flat_pairwise = {
    .name = "alltoall_flat_pairwise",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_flat_pairwise = {
    .name = "alltoallv_flat_pairwise",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .run = run,
};
