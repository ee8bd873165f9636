#include "../group/cost.h"
#include "../group/group.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double away = (double)shape->bytes * (comm->ranks - 1) * cost_away(comm) * comm->topology.most;
    return cost_fabric_unpaced(comm, comm->ranks - 1, away) + cost_distance(comm, comm->topology.nodes, away, true) +
           cost_combine(comm, (double)shape->bytes * comm->ranks);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct group all = group_everybody(comm);
    const struct blocks blocks = {.bytes = call->send_bytes, .at = call->send_at};
    return group_reduce_scatter_pairwise(&all, call->send, call->receive, &blocks, &call->reduction);
}

static const char meaning[] =
    "Everybody sends each other its block, one partner after the other, and combines those that come.";
static const char reference[] =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)";

const struct algorithm reduce_scatter_flat_pairwise = {
    .name = "reduce_scatter_flat_pairwise",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_flat_pairwise = {
    .name = "reduce_scatter_block_flat_pairwise",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .run = run,
};
