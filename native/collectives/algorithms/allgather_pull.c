#include "../group/cost.h"
#include "../node/allgather.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_shares(comm->node) && node_pulls(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* A system call for each, which looks up every page. */
    return comm->costs.node_latency +
           (comm->ranks - 1) * (comm->costs.pull_call + (double)shape->bytes * comm->costs.pull_byte);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_allgather_pull(comm, call->send, call->receive, call->bytes, NULL, NULL);
}

const struct algorithm allgather_pull = {
    .name = "allgather_pull",
    .collective = COLL_ALLGATHER,
    .meaning = "Everybody reads the others' blocks out of their memory: a single copy.",
    .reference = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core "
                 "systems, CLUSTER 2017",
    .applies = applies,
    .cost = cost,
    .run = run,
};
