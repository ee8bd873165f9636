#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const struct domains_way way = domains_way(comm);
    return domains_waits(comm, &way, 1, shape->bytes) + domains_latency(comm, &way, 0.6, 0.1) +
           (double)shape->bytes * comm->costs.node_byte * 0.3 * (domains_read(&way) + 1);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return domains_reduce(comm, call->root, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm reduce_domains = {
    .name = "reduce_domains",
    .collective = COLL_REDUCE,
    .meaning =
        "Combined in each domain, level by level, at last in the root's by one rank of each, segment by segment.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .segment = DOMAINS_SEGMENT,
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
