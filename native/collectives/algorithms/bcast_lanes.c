#include "../group/nodes.h"

enum { SEGMENT = 32768 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && comm->topology.least > 1 && shape->bytes >= comm->topology.least;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, part = bytes / comm->topology.least, piece = part < SEGMENT ? part : SEGMENT;
    int hops = comm->topology.nodes - 2;
    return cost_fabric_near(comm, (hops + 1 + part / SEGMENT / 4) * cost_sharing(comm),
                            hops * piece * comm->topology.least + bytes) +
           2 * cost_node(comm, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_CHAIN, true, (double)shape->bytes);
}

struct context {
    struct coll_comm *comm;
    char *data;
    const struct lanes *lanes;
    int64_t segment;
    int64_t *bytes, *at; /* of one segment of each lane, by local number */
    int told;
};

/* Everybody's segment with this number; of a lane whose part is a byte shorter it may be empty. */
static int to_node(void *given, int segment)
{
    struct context *context = given;
    const struct topology *topology = &context->comm->topology;
    for (int local = 0; local < topology->locals; local++) {
        int64_t from = segment * context->segment, left = context->lanes->bytes[local] - from;
        context->bytes[local] = left < 0 ? 0 : left < context->segment ? left : context->segment;
        context->at[local] = context->lanes->at[local] + from;
    }
    context->told = segment + 1;
    return node_allgather(context->comm, context->data + context->at[topology->local], context->data, 0, context->bytes,
                          context->at);
}

static int along_lanes(struct context *context, int root)
{
    struct coll_comm *comm = context->comm;
    const struct topology *topology = &comm->topology;
    const struct lanes *lanes = context->lanes;
    struct arrival arrival = {to_node, context};
    int error = MPI_SUCCESS, local = topology->local;
    if (local < lanes->count) {
        struct group lane = group_near(comm, local);
        error =
            group_bcast_pipeline(&lane, group_of_node(&lane, topology->node_of[root]), context->data + lanes->at[local],
                                 lanes->bytes[local], context->segment, 1, &arrival);
    }
    while (error == MPI_SUCCESS && context->told * context->segment < lanes->bytes[0])
        error = to_node(context, context->told);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    struct lanes *lanes = lanes_create(comm, call->bytes, 1);
    int64_t *room = malloc(2 * (size_t)topology->locals * sizeof *room);
    int error = lanes == NULL || room == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS && topology->node == topology->node_of[call->root])
        error = node_scatter(comm, topology->local_of[call->root], call->receive,
                             (char *)call->receive + lanes->at[topology->local], 0, lanes->bytes, lanes->at);
    if (error == MPI_SUCCESS) {
        struct context context = {comm, call->receive, lanes, segment, room, room + topology->locals, 0};
        error = along_lanes(&context, call->root);
    }
    free(lanes);
    free(room);
    return error;
}

const struct algorithm bcast_lanes = {
    .name = "bcast_lanes",
    .collective = COLL_BCAST,
    .meaning =
        "Scattered on the root's node; each rank of a node drives a chain of nodes of its own; gathered on each node.",
    .reference = "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
