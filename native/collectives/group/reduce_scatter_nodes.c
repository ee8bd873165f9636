#include "reduce_scatter_nodes.h"

#include <string.h>

#include "nodes.h"

/* The blocks of a lane's ranks one after the other, lane by lane: where each begins, in elements, and in `table` how
   long those of this rank's lane are, by member, and where from its begin. */
static void sort(const struct group *lane, const struct call *call, char *sorted, int64_t *from, int64_t *table)
{
    const struct topology *topology = &lane->comm->topology;
    int64_t at = 0;
    for (int local = 0; local < topology->locals; local++) {
        const int64_t begin = at;
        from[local] = begin / call->reduction.element;
        for (int node = 0; node < topology->nodes; node++) {
            int rank = topology_rank(topology, node, local);
            memcpy(sorted + at, (const char *)call->send + call->send_at[rank], (size_t)call->send_bytes[rank]);
            if (local == topology->local) {
                const int member = group_of_node(lane, node);
                table[member] = call->send_bytes[rank];
                table[topology->nodes + member] = at - begin;
            }
            at += call->send_bytes[rank];
        }
    }
    from[topology->locals] = at / call->reduction.element;
}

/* The lane is everybody: nothing has to be sorted. */
static int through_one_lane(const struct group *lane, const struct call *call, group_scattered_sum *between)
{
    const size_t size = (size_t)lane->size;
    int64_t *table = malloc(2 * size * sizeof *table);
    if (table == NULL)
        return MPI_ERR_NO_MEM;
    for (size_t member = 0; member < size; member++) {
        const int rank = group_rank(lane, (int)member);
        table[member] = call->send_bytes[rank];
        table[size + member] = call->send_at[rank];
    }
    const struct blocks blocks = {.bytes = table, .at = table + size};
    int error = between(lane, call->send, call->receive, &blocks, &call->reduction);
    free(table);
    return error;
}

int reduce_scatter_through_lanes(struct coll_comm *comm, const struct call *call, group_scattered_sum *between)
{
    const struct topology *topology = &comm->topology;
    const struct group lane =
        call->reduction.commutative ? group_near(comm, topology->local) : group_lane(comm, topology->local);
    if (topology->most == 1)
        return through_one_lane(&lane, call, between);
    int64_t all = 1, own = 1,
            *table = malloc((2 * (size_t)topology->nodes + (size_t)topology->locals + 1) * sizeof *table);
    for (int rank = 0; rank < comm->ranks; rank++) {
        all += call->send_bytes[rank];
        own += topology->local_of[rank] == topology->local ? call->send_bytes[rank] : 0;
    }
    char *sorted = coll_scratch(comm, SCRATCH_OTHER, all), *work = coll_scratch(comm, SCRATCH_WORK, own);
    int error = MPI_ERR_NO_MEM;
    if (table != NULL && sorted != NULL && work != NULL) {
        const struct blocks blocks = {.bytes = table, .at = table + topology->nodes};
        int64_t *from = table + 2 * topology->nodes;
        sort(&lane, call, sorted, from, table);
        error = node_reduce_scatter(comm, sorted, work, from, &call->reduction);
        if (error == MPI_SUCCESS)
            error = between(&lane, work, call->receive, &blocks, &call->reduction);
    }
    free(table);
    return error;
}
