#include "../group/nodes.h"
#include "../group/two_trees.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static bool applies_near(const struct coll_comm *comm, const struct shape *shape)
{
    return applies(comm, shape) && comm->topology.places != NULL;
}

/* The node has the last two pieces after the trees. */
static double cost_over(const struct coll_comm *comm, const struct places *places, const struct shape *shape)
{
    const int64_t two = 2 * group_two_trees_piece(comm, places, shape->bytes, 1);
    return group_two_trees_cost(comm, places, shape->bytes) +
           cost_node(comm, (double)(shape->bytes < two ? shape->bytes : two));
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

struct context {
    struct coll_comm *comm;
    char *data;
    int64_t bytes, piece;
    int leader;
};

static int to_node(void *given, int number)
{
    const struct context *context = given;
    struct span span = two_trees_piece(context->bytes, context->piece, number);
    if (span.from == span.to)
        return MPI_SUCCESS;
    return node_bcast(context->comm, context->leader, context->data + span.from, span.to - span.from);
}

static int run_over(struct coll_comm *comm, const struct places *places, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    struct context context = {comm, call->receive, call->bytes, group_two_trees_piece(comm, places, call->bytes, 1),
                              leaders.lane % topology->locals};
    struct arrival arrival = {to_node, &context};
    if (leaders.me >= 0)
        return group_bcast_two_trees(&leaders, places, group_of_node(&leaders, topology->node_of[call->root]),
                                     call->receive, call->bytes, topology->locals > 1 ? &arrival : NULL);
    int error = MPI_SUCCESS;
    for (int64_t i = 0; i < two_trees_pieces(call->bytes, context.piece) && error == MPI_SUCCESS; i++)
        error = to_node(&context, (int)i);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return run_over(comm, NULL, call);
}

static int run_near(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return run_over(comm, comm->topology.places, call);
}

const struct algorithm bcast_two_trees = {
    .name = "bcast_two_trees",
    .collective = COLL_BCAST,
    .meaning =
        "Each half of the message goes down a binary tree of its own, in which every node that is inside one tree is a "
        "leaf of the other, piece by piece, and to the ranks of each node.",
    .reference = TWO_TREES_REFERENCE,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};

const struct algorithm bcast_near_trees = {
    .name = "bcast_near_trees",
    .collective = COLL_BCAST,
    .meaning =
        "As two_trees, where groups of nodes that are near one another are known: each tree goes over groups first and enters each "
        "once, then over the nodes of the group.",
    .reference = TWO_TREES_REFERENCE,
    .applies = applies_near,
    .cost = cost_near,
    .crosses = crosses_near,
    .run = run_near,
};
