#include "exchange_counts.h"

#include "nodes.h"

int counts_exchange(struct counts *counts, struct coll_comm *comm, const struct call *call)
{
    *counts = (struct counts){.ranks = comm->ranks, .each = call->bytes};
    if (call->collective == COLL_ALLTOALL)
        return MPI_SUCCESS;
    size_t table = (size_t)comm->topology.locals * (size_t)comm->ranks;
    counts->out = malloc(2 * table * sizeof(int64_t));
    if (counts->out == NULL)
        return MPI_ERR_NO_MEM;
    counts->in = counts->out + table;
    int64_t row = comm->ranks * (int64_t)sizeof(int64_t);
    int error = node_allgather(comm, call->send_bytes, counts->out, row, NULL, NULL);
    return error == MPI_SUCCESS ? node_allgather(comm, call->receive_bytes, counts->in, row, NULL, NULL) : error;
}

void counts_free(struct counts *counts)
{
    free(counts->out);
}

int exchange_on_node(struct coll_comm *comm, const struct call *call, int64_t *room)
{
    const struct topology *topology = &comm->topology;
    struct blocks out = counts_send(call), in = counts_receive(call);
    int locals = topology->locals;
    for (int local = 0; local < locals; local++) {
        int rank = topology_rank(topology, topology->node, local);
        room[local] = blocks_bytes(&out, rank);
        room[locals + local] = blocks_at(&out, rank);
        room[2 * locals + local] = blocks_bytes(&in, rank);
        room[3 * locals + local] = blocks_at(&in, rank);
    }
    return node_alltoallv(comm, call->send, room, room + locals, call->receive, room + 2 * locals, room + 3 * locals);
}
