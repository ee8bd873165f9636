#include <string.h>

#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && nodes_keep_order(comm, shape);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double all = (double)shape->bytes * comm->ranks, nodes = comm->topology.nodes;
    return cost_fabric(comm, cost_levels(comm->topology.nodes, 2), all * (nodes - 1) / nodes) + cost_node(comm, all) +
           cost_node(comm, all / nodes) + all * comm->costs.node_byte;
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of_block(comm, shape, cost);
}

/* The blocks of a node's ranks one after the other, node by node, and in `table` how long a node's are, and where. */
static void sort(const struct coll_comm *comm, const struct call *call, char *sorted, int64_t *table)
{
    const struct topology *topology = &comm->topology;
    int64_t at = 0;
    for (int node = 0; node < topology->nodes; node++) {
        table[topology->nodes + node] = at;
        for (int i = topology->first[node]; i < topology->first[node + 1]; i++) {
            int rank = topology->members[i];
            memcpy(sorted + at, (const char *)call->send + call->send_at[rank], (size_t)call->send_bytes[rank]);
            at += call->send_bytes[rank];
        }
        table[node] = at - table[topology->nodes + node];
    }
}

/* `table`: two numbers for each node, then for each rank of this one. */
static int by_leaders(struct coll_comm *comm, const struct call *call, char *sorted, char *work, int64_t *table)
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    const struct group leaders = group_lane(comm, 0);
    sort(comm, call, sorted, table);
    const struct blocks blocks = {.bytes = table, .at = table + topology->nodes};
    const int64_t all = table[topology->nodes - 1] + table[2 * topology->nodes - 1];
    int64_t *bytes = table + 2 * topology->nodes, *at = bytes + topology->locals, next = 0;
    for (int local = 0; local < topology->locals; next += bytes[local++]) {
        bytes[local] = call->send_bytes[topology_rank(topology, topology->node, local)];
        at[local] = next;
    }
    int error = node_reduce(comm, 0, sorted, leaders.me >= 0 ? work : NULL, all / reduction->element, reduction);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = group_reduce_scatter(&leaders, work, sorted, &blocks, reduction);
    if (error == MPI_SUCCESS)
        error = node_scatter(comm, 0, sorted, call->receive, 0, bytes, at);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    int64_t all = 1, *table = malloc(2 * (size_t)(comm->topology.nodes + comm->topology.locals) * sizeof *table);
    for (int rank = 0; rank < comm->ranks; rank++)
        all += call->send_bytes[rank];
    char *sorted = coll_scratch(comm, SCRATCH_OTHER, all), *work = coll_scratch(comm, SCRATCH_WORK, all);
    int error = MPI_ERR_NO_MEM;
    if (table != NULL && sorted != NULL && work != NULL)
        error = by_leaders(comm, call, sorted, work, table);
    free(table);
    return error;
}

static const char meaning[] =
    "Combined on each node, then between one rank of each, by halving or pair by pair, and handed out on the node.";
static const char reference[] =
    "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)";

const struct algorithm reduce_scatter_leader = {
    .name = "reduce_scatter_leader",
    .collective = COLL_REDUCE_SCATTER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = scratch_three_vectors,
    .run = run,
};

const struct algorithm reduce_scatter_block_leader = {
    .name = "reduce_scatter_block_leader",
    .collective = COLL_REDUCE_SCATTER_BLOCK,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_thrice,
    .run = run,
};
