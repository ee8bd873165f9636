#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double up = 0.3 * (comm->topology.largest_domain - 1), over = 0.3 * comm->topology.domains;
    return domains_latency(comm, 0.6, 0.1) + (double)shape->bytes * comm->costs.node_byte * (up + over);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return domains_reduce(comm, call->root, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm reduce_domains = {
    .name = "reduce_domains",
    .collective = COLL_REDUCE,
    .meaning = "Combined in each NUMA domain, then in the root's by one rank of each, segment by segment.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .segment = DOMAINS_SEGMENT,
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
