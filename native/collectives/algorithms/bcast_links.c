#include "collectives.h"
#include "torus/bcast.h"

enum { SEGMENT = 16384 };

static const struct torus_way way = {.links = true, .several = true};

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

const struct algorithm bcast_links = {
    .name = "bcast_links",
    .collective = COLL_BCAST,
    .meaning = "Pipelined down trees that use every link of the torus once, driven by several processes of a "
               "node, which share what came while the next comes.",
    .reference = "Fujitsu (2014); Watts and van de Geijn, A pipelined broadcast for multidimensional meshes, 1995",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .run = run,
};
