#include "allgather_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "nodes.h"

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

/* The farthest nodes first, and everything to the node when all has come. */
static int far_first(struct context *context, const struct blocks *blocks)
{
    const struct group *lane = &context->lane;
    const struct call *call = context->call;
    char *own = (char *)call->receive + blocks_at(blocks, lane->me);
    if (own != call->send && blocks_bytes(blocks, lane->me) > 0)
        memcpy(own, call->send, (size_t)blocks_bytes(blocks, lane->me));
    int error = group_allgather_far(lane, call->receive, blocks);
    for (int member = 0; context->comm->topology.locals > 1 && member < lane->size && error == MPI_SUCCESS; member++)
        error = to_node(context, member);
    return error;
}

int allgather_through_lanes(struct coll_comm *comm, const struct call *call, int64_t segment, bool far)
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
    int error = far ? far_first(&context, &lane_blocks)
                    : group_allgather_ring(&lane, call->send, call->receive, &lane_blocks, segment,
                                           locals > 1 ? &arrival : NULL);
    free(room);
    return error;
}
