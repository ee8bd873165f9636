#include "../node/domains.h"

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const struct domains_way way = domains_way(comm);
    const int last = way.count - 1, over = way.width[last], up = domains_read(&way) - (over - 1);
    return domains_waits(comm, &way, 2, shape->bytes) + domains_latency(comm, &way, 1.4, 0.15) +
           (double)shape->bytes * comm->costs.node_byte * (0.3 * up + 0.6 * over + 0.27 * last);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return domains_allreduce(comm, call->send, call->receive, call->count, &call->reduction, segment);
}

const struct algorithm allreduce_domains = {
    .name = "allreduce_domains",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Combined in each domain of the node, level by level, among one rank of each outermost one, and handed out in each, segment by segment.",
    .reference = "Graham and Shipman, MPI support for multi-core architectures (2008); Katevenis et al., XHC (2022)",
    .segment = DOMAINS_SEGMENT,
    .applies = domains_apply,
    .cost = cost,
    .run = run,
};
