#include "../group/nodes.h"
#include "../group/scratch.h"
#include "../group/two_trees.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

/* As of the broadcast; every byte is combined once. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int nodes = comm->topology.nodes;
    const int64_t piece = group_two_trees_piece(comm, nodes, shape->bytes, 1);
    const double bytes = (double)shape->bytes;
    return cost_fabric(comm, cost_levels(nodes, 2) + 1, 1.3 * bytes) + group_two_trees_seconds(comm, nodes, bytes) +
           cost_wait(comm) * (double)two_trees_pieces(shape->bytes, piece) + bytes * comm->costs.node_byte +
           cost_node(comm, bytes * comm->topology.most);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_TWO_TREES, true, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
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
    return group_reduce_two_trees(&leaders, group_of_node(&leaders, topology->node_of[call->root]), work, call->receive,
                                  call->count, reduction);
}

const struct algorithm reduce_two_trees = {
    .name = "reduce_two_trees",
    .collective = COLL_REDUCE,
    .meaning =
        "Combined on each node; each half of the vector then goes up a binary tree of its own, in which every node that is inside one "
        "tree is a leaf of the other, piece by piece.",
    .reference = "Sanders, Speck, Traff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_vector,
    .run = run,
};
