/* Gathered at rank 0 and broadcast down trees over a torus: each row goes its own way (struct torus_way). */
#include "../group/scratch.h"
#include "torus/allgather.h"

enum { LINKS_SEGMENT = 16384, TREE_SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm);
}

/* The functions of a row: NAME_cost and NAME_run. */
#define WAY(NAME, LINKS, SEGMENT)                                                                                      \
    static const struct torus_way NAME = {.links = LINKS, .several = true};                                            \
    static double NAME##_cost(const struct coll_comm *comm, const struct shape *shape)                                 \
    {                                                                                                                  \
        return torus_gather_bcast_cost(comm, NAME, shape->bytes, SEGMENT);                                             \
    }                                                                                                                  \
    static int NAME##_run(struct coll_comm *comm, const struct call *call, int64_t segment)                            \
    {                                                                                                                  \
        return torus_gather_bcast(comm, call, NAME, segment);                                                          \
    }

WAY(gather_bcast, true, LINKS_SEGMENT)

static const char gather_bcast_meaning[] =
    "Gathered on nodes, then dimension by dimension at rank 0, and broadcast down the link trees of bcast_links.";

const struct algorithm allgather_gather_bcast = {
    .name = "allgather_gather_bcast",
    .collective = COLL_ALLGATHER,
    .meaning = gather_bcast_meaning,
    .reference = "Fujitsu (2014)",
    .segment = LINKS_SEGMENT,
    .applies = applies,
    .cost = gather_bcast_cost,
    .scratch = scratch_all_twice,
    .run = gather_bcast_run,
};

const struct algorithm allgatherv_gather_bcast = {
    .name = "allgatherv_gather_bcast",
    .collective = COLL_ALLGATHERV,
    .meaning = gather_bcast_meaning,
    .reference = "Fujitsu (2014)",
    .segment = LINKS_SEGMENT,
    .applies = applies,
    .cost = gather_bcast_cost,
    .scratch = scratch_all_twice,
    .run = gather_bcast_run,
};

WAY(gather_tree3d, false, TREE_SEGMENT)

static const char gather_tree3d_meaning[] =
    "Gathered on nodes, then dimension by dimension at rank 0, and broadcast down the tree of bcast_tree3d.";

const struct algorithm allgather_gather_tree3d = {
    .name = "allgather_gather_tree3d",
    .collective = COLL_ALLGATHER,
    .meaning = gather_tree3d_meaning,
    .reference = "Fujitsu (2014)",
    .segment = TREE_SEGMENT,
    .applies = applies,
    .cost = gather_tree3d_cost,
    .scratch = scratch_all_twice,
    .run = gather_tree3d_run,
};

const struct algorithm allgatherv_gather_tree3d = {
    .name = "allgatherv_gather_tree3d",
    .collective = COLL_ALLGATHERV,
    .meaning = gather_tree3d_meaning,
    .reference = "Fujitsu (2014)",
    .segment = TREE_SEGMENT,
    .applies = applies,
    .cost = gather_tree3d_cost,
    .scratch = scratch_all_twice,
    .run = gather_tree3d_run,
};
