#include "reduce_scatter_leaders.h"

#include <string.h>

#include "nodes.h"

/* The blocks of a node's ranks one after the other, node by node, and in `table`, by member, how long a node's are, and where. How many
   bytes there are. */
static int64_t sort(const struct group *leaders, const struct call *call, char *sorted, int64_t *table)
{
    const struct topology *topology = &leaders->comm->topology;
    int64_t at = 0;
    for (int node = 0; node < topology->nodes; node++) {
        const int member = group_of_node(leaders, node);
        table[topology->nodes + member] = at;
        for (int i = topology->first[node]; i < topology->first[node + 1]; i++) {
            int rank = topology->members[i];
            memcpy(sorted + at, (const char *)call->send + call->send_at[rank], (size_t)call->send_bytes[rank]);
            at += call->send_bytes[rank];
        }
        table[member] = at - table[topology->nodes + member];
    }
    return at;
}

/* `table`: two numbers for each node, then for each rank of this one. */
static int by_leaders(struct coll_comm *comm, const struct call *call, char *sorted, char *work, int64_t *table,
                      group_scattered_sum *between)
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    const struct group leaders = reduction->commutative ? group_near(comm, 0) : group_lane(comm, 0);
    const int64_t all = sort(&leaders, call, sorted, table);
    const struct blocks blocks = {.bytes = table, .at = table + topology->nodes};
    int64_t *bytes = table + 2 * topology->nodes, *at = bytes + topology->locals, next = 0;
    for (int local = 0; local < topology->locals; next += bytes[local++]) {
        bytes[local] = call->send_bytes[topology_rank(topology, topology->node, local)];
        at[local] = next;
    }
    int error = node_reduce(comm, 0, sorted, leaders.me >= 0 ? work : NULL, all / reduction->element, reduction);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = between(&leaders, work, sorted, &blocks, reduction);
    if (error == MPI_SUCCESS)
        error = node_scatter(comm, 0, sorted, call->receive, 0, bytes, at);
    return error;
}

int reduce_scatter_through_leaders(struct coll_comm *comm, const struct call *call, group_scattered_sum *between)
{
    int64_t all = 1, *table = malloc(2 * (size_t)(comm->topology.nodes + comm->topology.locals) * sizeof *table);
    for (int rank = 0; rank < comm->ranks; rank++)
        all += call->send_bytes[rank];
    char *sorted = coll_scratch(comm, SCRATCH_OTHER, all), *work = coll_scratch(comm, SCRATCH_WORK, all);
    int error = MPI_ERR_NO_MEM;
    if (table != NULL && sorted != NULL && work != NULL)
        error = by_leaders(comm, call, sorted, work, table, between);
    free(table);
    return error;
}
