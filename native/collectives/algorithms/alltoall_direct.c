#include "../group/exchange_counts.h"
#include "../group/nodes.h"

/* Partners on other nodes at a time. */
enum { WINDOW = 16 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int away = comm->ranks - comm->topology.most;
    return cost_fabric(comm, away / 4.0 + 1, (double)shape->bytes * away * comm->topology.most) +
           cost_node(comm, (double)shape->bytes * comm->topology.most) / 4;
}

struct window {
    struct coll_comm *comm;
    const struct call *call;
    struct blocks out, in;
    MPI_Request requests[WINDOW][2];
    int next;
};

static int start(struct window *window, int to, int from)
{
    const struct fabric *fabric = &window->comm->fabric;
    const struct call *call = window->call;
    MPI_Request *slot = window->requests[window->next++ % WINDOW];
    int error = fabric_wait(2, slot);
    if (error == MPI_SUCCESS && from >= 0)
        error = fabric_start_receive(fabric, (char *)call->receive + blocks_at(&window->in, from),
                                     blocks_bytes(&window->in, from), from, FABRIC_DATA, &slot[0]);
    if (error == MPI_SUCCESS && to >= 0)
        error = fabric_start_send(fabric, (const char *)call->send + blocks_at(&window->out, to),
                                  blocks_bytes(&window->out, to), to, FABRIC_DATA, &slot[1]);
    return error;
}

/* A round is one node further on; in it, each rank of the node begins with another rank of that node. Who sends to a rank
   in a round and step is who has it as a partner then; where nodes differ in size, a step may have only one of both. */
static int exchange(struct window *window, int64_t *room)
{
    const struct topology *topology = &window->comm->topology;
    int nodes = topology->nodes, steps = topology->most, error = MPI_SUCCESS;
    for (int round = 1; round < nodes; round++) {
        int there = (topology->node + round) % nodes, back = (topology->node - round + nodes) % nodes;
        for (int step = 0; step < steps && error == MPI_SUCCESS; step++) {
            int to = (topology->local + step) % steps, from = (topology->local - step + steps) % steps;
            error = start(window, to < topology_locals(topology, there) ? topology_rank(topology, there, to) : -1,
                          from < topology_locals(topology, back) ? topology_rank(topology, back, from) : -1);
        }
    }
    if (error == MPI_SUCCESS)
        error = exchange_on_node(window->comm, window->call, room);
    return error == MPI_SUCCESS ? fabric_wait(2 * WINDOW, window->requests[0]) : error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct window window = {.comm = comm, .call = call, .out = counts_send(call), .in = counts_receive(call)};
    for (int i = 0; i < WINDOW; i++)
        window.requests[i][0] = window.requests[i][1] = MPI_REQUEST_NULL;
    int64_t *room = malloc(4 * (size_t)comm->topology.locals * sizeof *room);
    int error = room == NULL ? MPI_ERR_NO_MEM : exchange(&window, room);
    free(room);
    return error;
}

const struct algorithm alltoall_direct = {
    .name = "alltoall_direct",
    .collective = COLL_ALLTOALL,
    .meaning = "Messages to the ranks of other nodes, node by node, 16 at a time; the node's own blocks meanwhile.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_direct = {
    .name = "alltoallv_direct",
    .collective = COLL_ALLTOALLV,
    .meaning = "Messages to the ranks of other nodes, node by node, 16 at a time; the node's own blocks meanwhile.",
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};
