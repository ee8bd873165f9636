#include "../group/nodes.h"

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, piece = bytes < SEGMENT ? bytes : SEGMENT;
    int hops = comm->topology.nodes - 2;
    return cost_fabric_near(comm, hops + 1 + bytes / SEGMENT, hops * piece + bytes) +
           cost_node(comm, piece * comm->topology.most) + bytes * comm->costs.node_byte * comm->topology.most / 2;
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_CHAIN, true, (double)shape->bytes);
}

struct context {
    struct coll_comm *comm;
    const struct call *call;
    char *work;    /* on leaders: what is combined on the node, CHAIN_WINDOW segments; on the root the whole vector */
    int64_t piece; /* elements */
    int leader;
    bool rolls;
};

static int on_node(void *given, int segment)
{
    const struct context *context = given;
    const struct call *call = context->call;
    int64_t from = segment * context->piece, left = call->count - from, element = call->reduction.element;
    int64_t place = (context->rolls ? segment % CHAIN_WINDOW : segment) * context->piece;
    return node_reduce(context->comm, context->leader, (const char *)call->send + from * element,
                       context->work == NULL ? NULL : context->work + place * element,
                       left < context->piece ? left : context->piece, &call->reduction);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    struct context context = {comm,
                              call,
                              NULL,
                              group_chain_piece(call->count, reduction, segment),
                              leaders.lane % topology->locals,
                              comm->rank != call->root};
    struct arrival need = {on_node, &context};
    int error = MPI_SUCCESS;
    if (leaders.me >= 0) {
        context.work = !context.rolls
                           ? call->receive
                           : coll_scratch(comm, SCRATCH_WORK, CHAIN_WINDOW * context.piece * reduction->element + 1);
        if (context.work == NULL && call->count > 0)
            return MPI_ERR_NO_MEM;
        return group_reduce_chain(&leaders, group_of_node(&leaders, topology->node_of[call->root]), context.work,
                                  call->receive, call->count, reduction, segment, &need, context.rolls);
    }
    for (int i = 0; i * context.piece < call->count && error == MPI_SUCCESS; i++)
        error = on_node(&context, i);
    return error;
}

const struct algorithm reduce_chain = {
    .name = "reduce_chain",
    .collective = COLL_REDUCE,
    .meaning = "Segments are combined on each node and follow one another along a chain of one rank of each.",
    .reference = "Worringen: Pipelining and overlapping for MPI collective operations (2003)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
