#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_fabric(comm, cost_levels(comm->ranks, 2), 0);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)call, (void)segment;
    struct group all = group_everybody(comm);
    return group_barrier(&all);
}

const struct algorithm barrier_flat = {
    .name = "barrier_flat",
    .collective = COLL_BARRIER,
    .meaning = "Dissemination over all ranks, as if each had a node to itself.",
    .reference = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization (1988)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
