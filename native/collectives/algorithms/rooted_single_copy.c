#include "../node/node.h"
#include "../node/rooted.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_pulls(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    /* A system call, which looks up every page; those of several ranks are in each other's way. */
    return 2 * comm->costs.node_latency + comm->costs.pull_call +
           (double)shape->bytes * comm->costs.node_byte * (0.5 + 0.25 * comm->ranks);
}

static int gather(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_gather_push(comm, call->root, call->send, call->receive, call->bytes);
}

static int scatter(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_scatter_pull(comm, call->root, call->send, call->receive, call->bytes);
}

const struct algorithm gather_push = {
    .name = "gather_push",
    .collective = COLL_GATHER,
    .meaning = "Single copy: everybody writes its block into the root's memory, all at once.",
    .reference = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core "
                 "systems, CLUSTER 2017",
    .applies = applies,
    .cost = cost,
    .run = gather,
};

const struct algorithm scatter_pull = {
    .name = "scatter_pull",
    .collective = COLL_SCATTER,
    .meaning = "Single copy: everybody reads its block out of the root's memory, all at once.",
    .reference = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core "
                 "systems, CLUSTER 2017",
    .applies = applies,
    .cost = cost,
    .run = scatter,
};
