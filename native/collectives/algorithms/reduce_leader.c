#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int levels = cost_levels(comm->topology.nodes, 2);
    double bytes = (double)shape->bytes;
    return cost_fabric(comm, levels, levels * bytes) + levels * bytes * comm->costs.node_byte +
           cost_node(comm, bytes * comm->topology.most);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_TREE, shape->commutative, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    const int lane = topology->local_of[call->root];
    struct group leaders = reduction->commutative ? group_near(comm, lane) : group_lane(comm, lane);
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
    return group_reduce_tree(&leaders, group_of_node(&leaders, topology->node_of[call->root]), work, call->receive,
                             call->count, reduction);
}

const struct algorithm reduce_leader = {
    .name = "reduce_leader",
    .collective = COLL_REDUCE,
    .meaning = "Combined on each node, then up a binomial tree of one rank of each.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_three_vectors,
    .run = run,
};
