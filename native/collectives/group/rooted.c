#include "rooted.h"

#include <string.h>

bool rooted_applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

double rooted_tree_cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, all = bytes * comm->ranks;
    return cost_fabric(comm, cost_levels(comm->topology.nodes, 2), all - bytes * comm->topology.most) +
           2 * cost_node(comm, bytes * comm->topology.most) + all * comm->costs.node_byte;
}

double rooted_direct_cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, others = comm->ranks - comm->topology.most;
    return cost_fabric(comm, 1 + 0.5 * others, others * bytes) + cost_node(comm, bytes * comm->topology.most);
}

int64_t *rooted_starts(const struct topology *topology, int root_node, int64_t each)
{
    int64_t *starts = malloc(((size_t)topology->nodes + 1) * sizeof *starts);
    if (starts == NULL)
        return NULL;
    starts[0] = 0;
    for (int place = 0; place < topology->nodes; place++)
        starts[place + 1] = starts[place] + each * topology_locals(topology, (root_node + place) % topology->nodes);
    return starts;
}

static void move(char *by_rank, char *by_place, int64_t bytes, bool into_ranks)
{
    memcpy(into_ranks ? by_rank : by_place, into_ranks ? by_place : by_rank, (size_t)bytes);
}

void rooted_sort(const struct topology *topology, int root_node, int64_t each, char *by_rank, char *by_place,
                 bool into_ranks)
{
    for (int place = 0; place < topology->nodes; place++) {
        int node = (root_node + place) % topology->nodes, locals = topology_locals(topology, node);
        if (topology->in_order)
            move(by_rank + topology->first[node] * each, by_place, locals * each, into_ranks);
        for (int local = 0; local < locals && !topology->in_order; local++)
            move(by_rank + topology_rank(topology, node, local) * each, by_place + local * each, each, into_ranks);
        by_place += locals * each;
    }
}

void rooted_turn(const struct coll_comm *comm, int root, int64_t each, char *by_rank, char *by_place, bool into_ranks)
{
    int64_t above = (comm->ranks - root) * each, below = root * each;
    move(by_rank + below, by_place, above, into_ranks);
    move(by_rank, by_place + above, below, into_ranks);
}

/* As many more as there is room for. */
static int start_some(struct rooted_others *others, struct coll_comm *comm, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    int error = MPI_SUCCESS;
    for (; others->next < comm->ranks && others->started < ROOTED_MESSAGES && error == MPI_SUCCESS; others->next++) {
        int rank = (call->root + others->next) % comm->ranks;
        MPI_Request *request = &others->request[others->started];
        if (topology->node_of[rank] == topology->node)
            continue;
        if (call->collective == COLL_SCATTER || call->collective == COLL_SCATTERV)
            error = fabric_start_send(&comm->fabric, (const char *)call->send + rooted_at(call, rank),
                                      rooted_bytes(call, rank), rank, FABRIC_DATA, request);
        else
            error = fabric_start_receive(&comm->fabric, (char *)call->receive + rooted_at(call, rank),
                                         rooted_bytes(call, rank), rank, FABRIC_DATA, request);
        others->started += error == MPI_SUCCESS;
    }
    return error;
}

int rooted_start(struct rooted_others *others, struct coll_comm *comm, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    size_t locals = (size_t)topology->locals;
    others->next = comm->rank == call->root ? 1 : comm->ranks;
    others->started = 0;
    others->bytes = malloc(2 * locals * sizeof *others->bytes);
    if (others->bytes == NULL)
        return MPI_ERR_NO_MEM;
    others->at = others->bytes + locals;
    for (int local = 0; local < topology->locals; local++) {
        int rank = topology_rank(topology, topology->node, local);
        bool known = !collective_has_no_size(call->collective) || comm->rank == call->root;
        others->bytes[local] = known ? rooted_bytes(call, rank) : local == topology->local ? call->own : 0;
        others->at[local] = known ? rooted_at(call, rank) : 0;
    }
    return start_some(others, comm, call);
}

int rooted_end(struct rooted_others *others, struct coll_comm *comm, const struct call *call, int error)
{
    free(others->bytes);
    while (error == MPI_SUCCESS && (others->started > 0 || others->next < comm->ranks)) {
        error = fabric_wait(&comm->fabric, others->started, others->request);
        others->started = 0;
        if (error == MPI_SUCCESS)
            error = start_some(others, comm, call);
    }
    return error;
}
