#include "../group/cost.h"
#include "../node/alltoall.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_queues(comm->node) && node_pulls(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* A system call for each other rank, and a copy of its own block. */
    const double byte = (comm->ranks - 1) * 0.45 * comm->costs.pull_byte + 0.5 * comm->costs.node_byte;
    return cost_lines(comm, 0.7, 0.15) + (comm->ranks - 1) * comm->costs.pull_call + (double)shape->bytes * byte;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_alltoall_pull(comm, call->send, call->receive, call->bytes);
}

const struct algorithm alltoall_pull = {
    .name = "alltoall_pull",
    .collective = COLL_ALLTOALL,
    .meaning = "Everybody reads its blocks out of the others' memory, each beginning with another: a single copy.",
    .reference = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core "
                 "systems, CLUSTER 2017",
    .applies = applies,
    .cost = cost,
    .run = run,
};
