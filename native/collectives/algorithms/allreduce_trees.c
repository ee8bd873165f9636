/* Up and down trees over a torus: each row goes its own way (struct torus_way). */
#include "../group/scratch.h"
#include "torus/allreduce.h"

enum { SEGMENT = 16384 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_applies(comm) && shape->commutative;
}

/* The functions of a row: NAME_cost and NAME_run. */
#define WAY(NAME, LINKS, SEVERAL)                                                                                      \
    static const struct torus_way NAME = {.links = LINKS, .several = SEVERAL};                                         \
    static double NAME##_cost(const struct coll_comm *comm, const struct shape *shape)                                 \
    {                                                                                                                  \
        return torus_allreduce_cost(comm, NAME, shape->bytes, SEGMENT);                                                \
    }                                                                                                                  \
    static int NAME##_run(struct coll_comm *comm, const struct call *call, int64_t segment)                            \
    {                                                                                                                  \
        return torus_allreduce(comm, NAME, call, segment);                                                             \
    }

WAY(links, true, true)

const struct algorithm allreduce_links = {
    .name = "allreduce_links",
    .collective = COLL_ALLREDUCE,
    .meaning = "Each slice up and down a tree of its own, segment by segment, over trees that use every link of "
               "the torus once each way; several processes of a node drive them.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = links_cost,
    .scratch = scratch_half,
    .run = links_run,
};

WAY(links_single, true, false)

const struct algorithm allreduce_links_single = {
    .name = "allreduce_links_single",
    .collective = COLL_ALLREDUCE,
    .meaning = "Reduced on the node to one process, which sends slices up and down trees that use every link of "
               "the torus once; then broadcast on the node.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = links_single_cost,
    .scratch = scratch_half,
    .run = links_single_run,
};

WAY(tree3d, false, false)

const struct algorithm allreduce_tree3d = {
    .name = "allreduce_tree3d",
    .collective = COLL_ALLREDUCE,
    .meaning = "Reduced on the node, up one tree over the cuboid, each line of nodes by halving, and down "
               "again, segment by segment; then broadcast on the node.",
    .reference = "Fujitsu (2014)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = tree3d_cost,
    .scratch = scratch_half,
    .run = tree3d_run,
};
