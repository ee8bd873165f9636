/* Down trees over a torus: each row goes its own way (struct torus_way). */
#include "collectives.h"
#include "torus/bcast.h"

enum { LINKS_SEGMENT = 16384, TREE_SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm);
}

/* The functions of a row: NAME_cost and NAME_run. */
#define WAY(NAME, LINKS, SEVERAL, SEGMENT)                                                                             \
    static const struct torus_way NAME = {.links = LINKS, .several = SEVERAL};                                         \
    static double NAME##_cost(const struct coll_comm *comm, const struct shape *shape)                                 \
    {                                                                                                                  \
        return torus_bcast_cost(comm, NAME, shape->bytes, SEGMENT);                                                    \
    }                                                                                                                  \
    static int NAME##_run(struct coll_comm *comm, const struct call *call, int64_t segment)                            \
    {                                                                                                                  \
        return torus_bcast(comm, NAME, call->root, call->receive, call->bytes, segment);                               \
    }

WAY(links, true, true, LINKS_SEGMENT)

const struct algorithm bcast_links = {
    .name = "bcast_links",
    .collective = COLL_BCAST,
    .meaning = "Pipelined down trees that use every link of the torus once, driven by several processes of a "
               "node, which share what came while the next comes.",
    .reference = "Fujitsu (2014); Watts and van de Geijn, A pipelined broadcast for multidimensional meshes, 1995",
    .segment = LINKS_SEGMENT,
    .applies = applies,
    .cost = links_cost,
    .run = links_run,
};

WAY(links_single, true, false, LINKS_SEGMENT)

const struct algorithm bcast_links_single = {
    .name = "bcast_links_single",
    .collective = COLL_BCAST,
    .meaning = "Pipelined down trees that use every link of the torus once, by one process a node, and after it "
               "the rest of the node.",
    .reference = "Fujitsu (2014): the form for one process a node",
    .segment = LINKS_SEGMENT,
    .applies = applies,
    .cost = links_single_cost,
    .run = links_single_run,
};

WAY(tree3d, false, true, TREE_SEGMENT)

const struct algorithm bcast_tree3d = {
    .name = "bcast_tree3d",
    .collective = COLL_BCAST,
    .meaning = "Down one tree over the cuboid, each line of nodes by halving, in segments; nodes share a "
               "segment while the next ones come.",
    .reference = "Fujitsu (2014)",
    .segment = TREE_SEGMENT,
    .applies = applies,
    .cost = tree3d_cost,
    .run = tree3d_run,
};

WAY(tree3d_single, false, false, TREE_SEGMENT)

const struct algorithm bcast_tree3d_single = {
    .name = "bcast_tree3d_single",
    .collective = COLL_BCAST,
    .meaning = "Down one tree over the cuboid, each line of nodes by halving; one process a node, and after it "
               "the rest of the node.",
    .reference = "Fujitsu (2014): the form for one process a node",
    .segment = TREE_SEGMENT,
    .applies = applies,
    .cost = tree3d_single_cost,
    .run = tree3d_single_run,
};
