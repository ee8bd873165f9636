#include "../group/cost.h"
#include "../node/cells.h"
#include "../node/node.h"
#include "../node/scan.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.nodes == 1 && node_shares(comm->node) && shape->bytes <= LINE_ROOM;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.5, 0.15);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return node_scan_inline(comm, call->send, call->receive, call->count, &call->reduction,
                            call->collective == COLL_EXSCAN);
}

static const char meaning[] =
    "Everybody posts its vector in the cache line of its flag, and combines those of the ranks before it by itself.";

const struct algorithm scan_inline = {
    .name = "scan_inline",
    .collective = COLL_SCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm exscan_inline = {
    .name = "exscan_inline",
    .collective = COLL_EXSCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
