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
    return group_two_trees_cost(comm, places, shape->bytes) + bytes * comm->costs.node_byte +
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

static int run_over(struct coll_comm *comm, const struct places *places, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    const int lane = topology->local_of[call->root];
    struct group leaders = group_near(comm, lane);
    void *work = NULL;
    if (leaders.me >= 0) {
        work = comm->rank == call->root ? call->receive
                                        : coll_scratch(comm, SCRATCH_WORK, call->count * reduction->element + 1);
        if (work == NULL && call->count > 0)
            return MPI_ERR_NO_MEM;
    }
    int error = node_reduce(comm, leaders.lane % topology->locals, call->send, work, call->count, reduction);
    if (error != MPI_SUCCESS || leaders.me < 0)
        return error;
    return group_reduce_two_trees(&leaders, places, group_of_node(&leaders, topology->node_of[call->root]), work,
                                  call->receive, call->count, reduction);
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
