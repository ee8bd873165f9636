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
    /* A system call for each other rank and one to the root, and what a rank reads, combines and writes. */
    const double others = comm->ranks - 1;
    return 2 * comm->costs.node_latency + (1 + others) * comm->costs.pull_call + 2 * cost_wait(comm) +
           (double)shape->bytes * comm->costs.pull_byte * (1.1 * others + 0.5) / comm->ranks;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_reduce_pull(comm, call->root, call->send, call->receive, call->count, &call->reduction);
}

static const char meaning[] =
    "Single copy: every rank reads one slice out of all memories, combines it in its cache and writes it to the root.";
static const char reference[] = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for "
                                "multi-/many-core systems, CLUSTER 2017";

const struct algorithm reduce_pull = {
    .name = "reduce_pull",
    .collective = COLL_REDUCE,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .run = run,
};
