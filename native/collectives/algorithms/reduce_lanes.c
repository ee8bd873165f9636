#include "../group/nodes.h"
#include "../group/scratch.h"

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.least > 1 && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, part = bytes / comm->topology.least, piece = part < SEGMENT ? part : SEGMENT;
    int hops = comm->topology.nodes - 2;
    return cost_fabric_near(comm, hops + 1 + part / SEGMENT, hops * piece * comm->topology.least + bytes) +
           3 * cost_node(comm, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_CHAIN, true, (double)shape->bytes);
}

static int by_parts(struct coll_comm *comm, const struct call *call, const struct lanes *lanes, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    int local = topology->local, root = topology->node_of[call->root];
    int64_t own = lanes->from[local + 1] - lanes->from[local];
    char *work = coll_scratch(comm, SCRATCH_WORK, own * reduction->element + 1);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    int error = node_reduce_scatter(comm, call->send, work, lanes->from, reduction);
    if (error == MPI_SUCCESS && local < lanes->count) {
        struct group lane = group_near(comm, local);
        error = group_reduce_chain(&lane, group_of_node(&lane, root), work, work, own, reduction, segment, NULL, false);
    }
    if (error == MPI_SUCCESS && topology->node == root)
        error = node_gather(comm, topology->local_of[call->root], work, call->receive, 0, lanes->bytes, lanes->at);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    struct lanes *lanes = lanes_create(comm, call->count, call->reduction.element);
    int error = lanes == NULL ? MPI_ERR_NO_MEM : by_parts(comm, call, lanes, segment);
    free(lanes);
    return error;
}

const struct algorithm reduce_lanes = {
    .name = "reduce_lanes",
    .collective = COLL_REDUCE,
    .meaning =
        "Each rank of a node combines its part of the vector and sends it along a chain of nodes; gathered at the root.",
    .reference = "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_lanes,
    .run = run,
};
