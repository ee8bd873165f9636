#include "collectives.h"
#include "torus/bcast.h"

enum { SEGMENT = 32768 };

static const struct torus_way way = {.links = false, .several = true};

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

const struct algorithm bcast_tree3d = {
    .name = "bcast_tree3d",
    .collective = COLL_BCAST,
    .meaning = "Down one tree over the cuboid, each line of nodes by halving, in segments; nodes share a "
               "segment while the next ones come.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
