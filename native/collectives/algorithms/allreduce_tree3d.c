#include "../group/scratch.h"
#include "torus/allreduce.h"

enum { SEGMENT = 16384 };

static const struct torus_way way = {.links = false, .several = false};

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

const struct algorithm allreduce_tree3d = {
    .name = "allreduce_tree3d",
    .collective = COLL_ALLREDUCE,
    .meaning = "Reduced on the node, up one tree over the cuboid, each line of nodes by halving, and down "
               "again, segment by segment; then broadcast on the node.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_half,
    .run = run,
};
