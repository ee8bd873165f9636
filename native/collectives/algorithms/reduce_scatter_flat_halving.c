#include "../group/cost.h"
#include "../group/group.h"
#include "../group/schedule.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->ranks > 1 && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double all = (double)shape->bytes * comm->ranks * comm->topology.most;
    double again = power_below(comm->ranks) == comm->ranks ? 0 : 1;
    return cost_fabric_shared(comm, cost_levels(comm->ranks, 2) + again, (1 + again) * all * cost_away(comm)) +
           cost_distance(comm, comm->topology.nodes, all, true) +
           cost_combine(comm, (2 + again) * (double)shape->bytes * comm->ranks);
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
    return group_reduce_scatter_halving(&all, call->send, call->receive, &blocks, &call->reduction);
}

static const char meaning[] = "Recursive halving over all ranks, as if each had a node to itself.";
static const char reference[] =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)";

const struct algorithm reduce_scatter_flat_halving = {
    .name = "reduce_scatter_flat_halving",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = scratch_two_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_flat_halving = {
    .name = "reduce_scatter_block_flat_halving",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};
