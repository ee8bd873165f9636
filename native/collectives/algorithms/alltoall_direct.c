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
    return cost_fabric_unpaced(comm, away / 2.0 + 1, (double)shape->bytes * away * comm->topology.most) +
           cost_node(comm, (double)shape->bytes * comm->topology.most) / 4;
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, cost);
}

struct window {
    struct coll_comm *comm;
    const struct call *call;
    struct blocks out, in;
    int steps; /* in all */
    MPI_Request requests[WINDOW][2];
};

static int start_receive(struct window *window, int step)
{
    int from = nodes_partner(&window->comm->topology, step, -1);
    if (from < 0)
        return MPI_SUCCESS;
    return fabric_start_receive(&window->comm->fabric, (char *)window->call->receive + blocks_at(&window->in, from),
                                blocks_bytes(&window->in, from), from, FABRIC_DATA,
                                &window->requests[step % WINDOW][0]);
}

static int start_send(struct window *window, int step)
{
    int to = nodes_partner(&window->comm->topology, step, 1);
    if (to < 0)
        return MPI_SUCCESS;
    return fabric_start_send(&window->comm->fabric, (const char *)window->call->send + blocks_at(&window->out, to),
                             blocks_bytes(&window->out, to), to, FABRIC_DATA, &window->requests[step % WINDOW][1]);
}

/* As many receives as there is room for come first: a message that nobody waits for is copied once more. */
static int exchange(struct window *window, int64_t *room)
{
    int error = MPI_SUCCESS;
    for (int step = 0; step < window->steps && step < WINDOW && error == MPI_SUCCESS; step++)
        error = start_receive(window, step);
    for (int step = 0; step < window->steps && error == MPI_SUCCESS; step++) {
        if (step >= WINDOW) {
            error = fabric_wait(&window->comm->fabric, 2, window->requests[step % WINDOW]);
            if (error == MPI_SUCCESS)
                error = start_receive(window, step);
        }
        if (error == MPI_SUCCESS)
            error = start_send(window, step);
    }
    if (error == MPI_SUCCESS)
        error = exchange_on_node(window->comm, window->call, room);
    return error == MPI_SUCCESS ? fabric_wait(&window->comm->fabric, 2 * WINDOW, window->requests[0]) : error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct window window = {.comm = comm, .call = call, .out = counts_send(call), .in = counts_receive(call)};
    window.steps = nodes_partner_steps(&comm->topology);
    for (int i = 0; i < WINDOW; i++)
        window.requests[i][0] = window.requests[i][1] = MPI_REQUEST_NULL;
    int64_t *room = malloc(4 * (size_t)comm->topology.locals * sizeof *room);
    int error = room == NULL ? MPI_ERR_NO_MEM : exchange(&window, room);
    free(room);
    return error;
}

static const char meaning[] =
    "Messages to the ranks of other nodes, node by node, 16 at a time; the node's own blocks meanwhile.";

const struct algorithm alltoall_direct = {
    .name = "alltoall_direct",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_direct = {
    .name = "alltoallv_direct",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost_v,
    .run = run,
};
