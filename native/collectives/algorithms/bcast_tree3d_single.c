#include "collectives.h"
#include "torus/bcast.h"

enum { SEGMENT = 32768 };

static const struct torus_way way = {.links = false, .several = false};

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

const struct algorithm bcast_tree3d_single = {
    .name = "bcast_tree3d_single",
    .collective = COLL_BCAST,
    .meaning = "Down one tree over the cuboid, each line of nodes by halving; one process a node, and after it "
               "the rest of the node.",
    .reference = "Fujitsu (2014): the form for one process a node",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
