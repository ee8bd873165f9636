#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    const struct domains_way way = domains_way(comm);
    return domains_waits(comm, &way, 2, 0) + domains_latency(comm, &way, 0.6, 0.1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)call, (void)segment;
    return domains_barrier(comm);
}

const struct algorithm barrier_domains = {
    .name = "barrier_domains",
    .collective = COLL_BARRIER,
    .meaning =
        "One rank of each domain reads the flags of its own, level by level those of its like, and tells its own.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
