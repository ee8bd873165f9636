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
    /* Two system calls for each other rank, and what a rank reads, combines and writes. */
    const double others = comm->ranks - 1, byte = 1.4 * comm->costs.pull_byte + 1.5 * comm->costs.node_byte;
    return cost_lines(comm, 1.4, 0.3) + 2 * others * comm->costs.pull_call + 2 * cost_wait(comm) +
           (double)shape->bytes * byte * others / comm->ranks;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allreduce_pull(comm, call->send, call->receive, call->count, &call->reduction);
}

static const char meaning[] =
    "Single copy: every rank reads one slice out of all memories, combines it in its cache and writes it into theirs.";
static const char reference[] = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for "
                                "multi-/many-core systems, CLUSTER 2017";

const struct algorithm allreduce_pull = {
    .name = "allreduce_pull",
    .collective = COLL_ALLREDUCE,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .run = run,
};
