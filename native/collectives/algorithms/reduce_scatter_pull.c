#include "../group/cost.h"
#include "../node/node.h"
#include "../node/pull_reduce.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_pulls(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* A system call for each, which looks up every page. */
    return comm->costs.node_latency * 2 +
           (comm->ranks - 1) * (comm->costs.pull_call + (double)shape->bytes * comm->costs.pull_byte);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_scatter_pull(comm, call->send, call->receive, call->send_bytes, call->send_at, &call->reduction);
}

static const char meaning[] =
    "Everybody reads its own block out of the others' memory and combines it while it is in its cache: a single copy.";
static const char reference[] = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for "
                                "multi-/many-core systems, CLUSTER 2017";

const struct algorithm reduce_scatter_pull = {
    .name = "reduce_scatter_pull",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .run = run,
};

const struct algorithm reduce_scatter_block_pull = {
    .name = "reduce_scatter_block_pull",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .run = run,
};
