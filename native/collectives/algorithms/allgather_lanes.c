#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.regular;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks;
    return cost_fabric_shared(comm, nodes - 1, all * (nodes - 1) / nodes) + nodes * cost_node(comm, all / nodes / 4);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes * comm->ranks);
}

struct context {
    struct coll_comm *comm;
    const struct call *call;
    struct group lane;
    int64_t *lane_bytes, *lane_at;   /* by member: the ranks of this lane */
    int64_t *local_bytes, *local_at; /* by local number: the ranks of one node */
};

/* The blocks of a node's ranks have come, each to one of us. */
static int to_node(void *given, int member)
{
    struct context *context = given;
    const struct topology *topology = &context->comm->topology;
    struct blocks blocks = nodes_blocks(context->call);
    const int node = group_node_of(&context->lane, member);
    for (int local = 0; local < topology->locals; local++) {
        int rank = topology_rank(topology, node, local);
        context->local_bytes[local] = blocks_bytes(&blocks, rank);
        context->local_at[local] = blocks_at(&blocks, rank);
    }
    char *receive = context->call->receive;
    return node_allgather(context->comm, receive + context->lane_at[member], receive, 0, context->local_bytes,
                          context->local_at);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    size_t nodes = (size_t)topology->nodes, locals = (size_t)topology->locals;
    int64_t *room = malloc(2 * (nodes + locals) * sizeof *room);
    if (room == NULL)
        return MPI_ERR_NO_MEM;
    struct group lane = group_near(comm, topology->local);
    struct context context = {comm, call, lane, room, room + nodes, room + 2 * nodes, room + 2 * nodes + locals};
    struct blocks blocks = nodes_blocks(call), lane_blocks = {.bytes = room, .at = room + nodes};
    for (int member = 0; member < lane.size; member++) {
        context.lane_bytes[member] = blocks_bytes(&blocks, group_rank(&lane, member));
        context.lane_at[member] = blocks_at(&blocks, group_rank(&lane, member));
    }
    struct arrival arrival = {to_node, &context};
    int error = group_allgather_ring(&lane, call->send, call->receive, &lane_blocks, segment,
                                     locals > 1 ? &arrival : NULL);
    free(room);
    return error;
}

static const char meaning[] =
    "Each rank of a node hands around a ring of nodes its own blocks; what has come is exchanged on the node meanwhile.";
static const char reference[] =
    "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)";

const struct algorithm allgather_lanes = {
    .name = "allgather_lanes",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};

const struct algorithm allgatherv_lanes = {
    .name = "allgatherv_lanes",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
