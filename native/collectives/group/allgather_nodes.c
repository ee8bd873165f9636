#include "allgather_nodes.h"

#include <string.h>

#include "nodes.h"

/* Whether the blocks' places in the receive buffer are those in `all`. */
static bool in_place(const struct by_node *by_node, const struct blocks *blocks)
{
    if (!by_node->comm->topology.in_order)
        return false;
    for (int rank = 0; blocks->bytes != NULL && rank < by_node->comm->ranks; rank++)
        if (blocks->bytes[rank] > 0 && blocks->at[rank] != by_node->rank_at[rank])
            return false;
    return true;
}

static int64_t add_up(struct by_node *by_node, const struct blocks *blocks)
{
    const struct topology *topology = &by_node->comm->topology;
    const struct group leaders = group_near(by_node->comm, 0);
    int64_t at = 0;
    for (int node = 0; node < topology->nodes; node++) {
        const int member = group_of_node(&leaders, node);
        by_node->node_at[member] = at;
        for (int i = topology->first[node]; i < topology->first[node + 1]; i++) {
            by_node->rank_bytes[i] = blocks_bytes(blocks, topology->members[i]);
            by_node->rank_at[i] = at;
            at += by_node->rank_bytes[i];
        }
        by_node->node_bytes[member] = at - by_node->node_at[member];
    }
    return at;
}

int by_node_start(struct by_node *by_node, struct coll_comm *comm, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    struct blocks blocks = nodes_blocks(call);
    size_t ranks = (size_t)comm->ranks, nodes = (size_t)topology->nodes;
    *by_node = (struct by_node){.comm = comm, .rank_bytes = malloc(2 * (ranks + nodes) * sizeof(int64_t))};
    if (by_node->rank_bytes == NULL)
        return MPI_ERR_NO_MEM;
    by_node->rank_at = by_node->rank_bytes + ranks;
    by_node->node_bytes = by_node->rank_at + ranks;
    by_node->node_at = by_node->node_bytes + nodes;
    int64_t total = add_up(by_node, &blocks);
    by_node->all = in_place(by_node, &blocks) ? call->receive : coll_scratch(comm, SCRATCH_WORK, total + 1);
    if (by_node->all == NULL)
        return MPI_ERR_NO_MEM;
    struct blocks own = by_node_own(by_node);
    return node_gather(comm, 0, call->send, by_node->all, 0, own.bytes, own.at);
}

void by_node_end(struct by_node *by_node, const struct call *call, bool good)
{
    struct blocks blocks = nodes_blocks(call);
    const int *members = by_node->comm->topology.members;
    for (int i = 0; good && by_node->all != call->receive && i < by_node->comm->ranks; i++)
        if (by_node->rank_bytes[i] > 0)
            memcpy((char *)call->receive + blocks_at(&blocks, members[i]), by_node->all + by_node->rank_at[i],
                   (size_t)by_node->rank_bytes[i]);
    free(by_node->rank_bytes);
}

int by_node_run(struct coll_comm *comm, const struct call *call, leaders_allgather *exchange)
{
    struct by_node by_node;
    struct group leaders = group_near(comm, 0);
    int error = by_node_start(&by_node, comm, call), last = group_of_node(&leaders, comm->topology.nodes - 1);
    if (error == MPI_SUCCESS && leaders.me >= 0) {
        struct blocks blocks = {.bytes = by_node.node_bytes, .at = by_node.node_at};
        error = exchange(&leaders, by_node.all + by_node.node_at[leaders.me], by_node.all, &blocks);
    }
    if (error == MPI_SUCCESS)
        error = node_bcast(comm, 0, by_node.all, by_node.node_at[last] + by_node.node_bytes[last]);
    by_node_end(&by_node, call, error == MPI_SUCCESS);
    return error;
}
