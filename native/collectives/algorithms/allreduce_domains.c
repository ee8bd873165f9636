#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double up = 0.3 * (comm->topology.largest_domain - 1), over = 0.6 * comm->topology.domains, down = 0.27;
    return domains_latency(comm, 1.4, 0.15) + (double)shape->bytes * comm->costs.node_byte * (up + over + down);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return domains_allreduce(comm, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm allreduce_domains = {
    .name = "allreduce_domains",
    .collective = COLL_ALLREDUCE,
    .meaning = "Combined in each NUMA domain, among one rank of each, and handed out in each, segment by segment.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .segment = DOMAINS_SEGMENT,
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
