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
    (void)shape;
    return cost_lines(comm, 1.5, 0.2);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_alltoallv_pull(comm, call->send, call->send_bytes, call->send_at, call->receive, call->receive_bytes,
                               call->receive_at);
}

const struct algorithm alltoallv_pull = {
    .name = "alltoallv_pull",
    .collective = COLL_ALLTOALLV,
    .meaning = "Long blocks are read out of their sender's memory, short ones go beside a flag or through cells.",
    .reference = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core "
                 "systems, CLUSTER 2017",
    .applies = applies,
    .cost = cost,
    .run = run,
};
