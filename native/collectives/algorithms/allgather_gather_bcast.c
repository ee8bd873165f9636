#include "../group/scratch.h"
#include "torus/allgather.h"

enum { SEGMENT = 16384 };

static const struct torus_way way = {.links = true, .several = true};

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_gather_bcast_cost(comm, way, shape->bytes, SEGMENT);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return torus_gather_bcast(comm, call, way, segment);
}

static const char meaning[] =
    "Gathered on nodes, then dimension by dimension at rank 0, and broadcast down the link trees of bcast_links.";

const struct algorithm allgather_gather_bcast = {
    .name = "allgather_gather_bcast",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};

const struct algorithm allgatherv_gather_bcast = {
    .name = "allgatherv_gather_bcast",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};
