#include "../group/circulant.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

/* The node has the last block after the others. No `crosses`: most rounds lead to other groups of nodes. Where these are known, the
   choice takes who sends least between them of those that cost nearly as little (choice.c), and trees send less. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return group_circulant_cost(comm, shape->bytes) +
           cost_node(comm, (double)group_circulant_piece(comm, shape->bytes));
}

struct context {
    struct coll_comm *comm;
    char *data;
    int64_t bytes, piece;
    int leader;
};

static int to_node(void *given, int block)
{
    const struct context *context = given;
    const int64_t at = block * context->piece, left = context->bytes - at;
    return node_bcast(context->comm, context->leader, context->data + at,
                      left < context->piece ? left : context->piece);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    struct context context = {comm, call->receive, call->bytes, group_circulant_piece(comm, call->bytes),
                              leaders.lane % topology->locals};
    struct arrival arrival = {to_node, &context};
    if (leaders.me >= 0)
        return group_bcast_circulant(&leaders, group_of_node(&leaders, topology->node_of[call->root]), call->receive,
                                     call->bytes, topology->locals > 1 ? &arrival : NULL);
    int error = MPI_SUCCESS;
    for (int i = 0; i * context.piece < call->bytes && error == MPI_SUCCESS; i++)
        error = to_node(&context, i);
    return error;
}

const struct algorithm bcast_circulant = {
    .name = "bcast_circulant",
    .collective = COLL_BCAST,
    .meaning =
        "Blocks go over a circulant graph of nodes, in as few rounds as any number of nodes allows, and to the ranks of each.",
    .reference = CIRCULANT_REFERENCE,
    .applies = applies,
    .cost = cost,
    .run = run,
};
