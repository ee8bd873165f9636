#include "collectives.h"
#include "torus/bcast.h"

enum { SEGMENT = 16384 };

static const struct torus_way way = {.links = true, .several = false};

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_bcast_cost(comm, way, shape->bytes, SEGMENT);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return torus_bcast(comm, way, call->root, call->receive, call->bytes, segment);
}

const struct algorithm bcast_links_single = {
    .name = "bcast_links_single",
    .collective = COLL_BCAST,
    .meaning = "Pipelined down trees that use every link of the torus once, by one process a node, and after it "
               "the rest of the node.",
    .reference = "Fujitsu (2014): the form for one process a node",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
