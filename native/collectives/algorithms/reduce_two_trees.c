#include "../group/nodes.h"
#include "../group/scratch.h"
#include "../group/two_trees.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static bool applies_near(const struct coll_comm *comm, const struct shape *shape)
{
    return applies(comm, shape) && comm->topology.places != NULL;
}

/* Every byte is combined once on its way. */
static double cost_over(const struct coll_comm *comm, const struct places *places, const struct shape *shape)
{
    const double bytes = (double)shape->bytes;
    return group_two_trees_cost(comm, places, shape->bytes) + cost_combine(comm, bytes) +
           cost_node(comm, bytes * comm->topology.most);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_over(comm, NULL, shape);
}

static double cost_near(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_over(comm, comm->topology.places, shape);
}

static struct crossing crosses_near(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_NEAR_TREES, true, (double)shape->bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_TWO_TREES, true, (double)shape->bytes);
}

static int to_root(const struct group *leaders, int root, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction)
{
    return group_reduce_two_trees(leaders, NULL, root, send, receive, count, reduction);
}

static int to_root_near(const struct group *leaders, int root, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction)
{
    return group_reduce_two_trees(leaders, leaders->comm->topology.places, root, send, receive, count, reduction);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_reduce(comm, call, to_root);
}

static int run_near(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_reduce(comm, call, to_root_near);
}

const struct algorithm reduce_two_trees = {
    .name = "reduce_two_trees",
    .collective = COLL_REDUCE,
    .meaning =
        "Combined on each node; each half of the vector then goes up a binary tree of its own, in which every node that is inside one "
        "tree is a leaf of the other, piece by piece.",
    .reference = TWO_TREES_REFERENCE,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_vector,
    .run = run,
};

const struct algorithm reduce_near_trees = {
    .name = "reduce_near_trees",
    .collective = COLL_REDUCE,
    .meaning =
        "As two_trees, where groups of nodes that are near one another are known: each tree goes over the nodes of a group first, and "
        "leaves each once, then over groups.",
    .reference = TWO_TREES_REFERENCE,
    .applies = applies_near,
    .cost = cost_near,
    .crosses = crosses_near,
    .scratch = scratch_vector,
    .run = run_near,
};
