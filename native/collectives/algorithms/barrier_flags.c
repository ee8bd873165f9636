#include "../group/cost.h"
#include "../node/barrier.h"
#include "../node/cells.h"
#include "../node/node.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_shares(comm->node);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.5, 0.15);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return ((void)call, node_barrier_flags(comm));
}

const struct algorithm barrier_flags = {
    .name = "barrier_flags",
    .collective = COLL_BARRIER,
    .meaning = "Everybody reads everybody's flag in shared memory.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
