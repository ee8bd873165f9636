#include "../group/scratch.h"
#include "torus/allreduce.h"

enum { SEGMENT = 16384 };

static const struct torus_way way = {.links = true, .several = true};

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_applies(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_allreduce_cost(comm, way, shape->bytes, SEGMENT);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return torus_allreduce(comm, way, call, segment);
}

const struct algorithm allreduce_links = {
    .name = "allreduce_links",
    .collective = COLL_ALLREDUCE,
    .meaning = "Each slice up and down a tree of its own, segment by segment, over trees that use every link of "
               "the torus once each way; several processes of a node drive them.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_half,
    .run = run,
};
