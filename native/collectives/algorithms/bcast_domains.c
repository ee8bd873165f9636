#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const struct domains_way way = domains_way(comm);
    return domains_waits(comm, &way, 1, shape->bytes) + domains_latency(comm, &way, 0.6, 0.05) +
           (double)shape->bytes * comm->costs.node_byte * 0.27 * way.count;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return domains_bcast(comm, call->root, call->receive, call->bytes, segment);
}

const struct algorithm bcast_domains = {
    .name = "bcast_domains",
    .collective = COLL_BCAST,
    .meaning =
        "Through shared memory to one rank of each domain, which hands it on in its own, level by level, segment by segment.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .segment = DOMAINS_SEGMENT,
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
