#include <string.h>

#include "../group/exchange_counts.h"
#include "../group/nodes.h"

/* Nodes at a time. */
enum { WINDOW = 4 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.regular && comm->topology.most > 1;
}

static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    return 2 * WINDOW * comm->topology.most * shape->bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double own = (double)shape->bytes * comm->ranks;
    return cost_fabric_unpaced(comm, (nodes - 1) / 2.0 + 1, own * comm->topology.most * (nodes - 1) / nodes) +
           nodes * cost_node(comm, own / nodes);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, cost);
}

struct state {
    struct coll_comm *comm;
    const struct call *call;
    struct counts counts;
    struct blocks out, in;
    char *packed, *came; /* by node at a time: for its ranks; from its rank of my place */
    int64_t largest;     /* room for one node in either */
    MPI_Request requests[WINDOW][2];
    int64_t *room; /* 4 numbers for each rank of the node */
};

static int64_t bytes_for(const struct state *state, int node)
{
    const struct topology *topology = &state->comm->topology;
    int64_t sum = 0;
    for (int local = 0; local < topology->most; local++)
        sum += blocks_bytes(&state->out, topology_rank(topology, node, local));
    return sum;
}

/* From that node's rank at my place, for the ranks of my node. */
static int64_t bytes_from(const struct state *state, int node)
{
    const struct topology *topology = &state->comm->topology;
    int from = topology_rank(topology, node, topology->local);
    int64_t sum = 0;
    for (int local = 0; local < topology->most; local++)
        sum += counts_in(&state->counts, local, from);
    return sum;
}

/* The blocks for a node's ranks one after the other: where they are, if they are so, else copied. */
static const char *gather_for(const struct state *state, int node, char *copy)
{
    const struct topology *topology = &state->comm->topology;
    const char *send = state->call->send, *first = send + blocks_at(&state->out, topology_rank(topology, node, 0));
    const char *next = first;
    for (int local = 0; local < topology->most && next != NULL; local++) {
        int rank = topology_rank(topology, node, local);
        next = next == send + blocks_at(&state->out, rank) ? next + blocks_bytes(&state->out, rank) : NULL;
    }
    if (next != NULL)
        return first;
    char *at = copy;
    for (int local = 0; local < topology->most; local++) {
        int rank = topology_rank(topology, node, local);
        int64_t bytes = blocks_bytes(&state->out, rank);
        if (bytes > 0)
            memcpy(at, send + blocks_at(&state->out, rank), (size_t)bytes);
        at += bytes;
    }
    return copy;
}

static int start(struct state *state, int round)
{
    const struct topology *topology = &state->comm->topology;
    int nodes = topology->nodes, slot = round % WINDOW;
    if (round >= nodes)
        return MPI_SUCCESS;
    int to = (topology->node + round) % nodes, from = (topology->node - round + nodes) % nodes;
    int error = fabric_wait(&state->comm->fabric, 1, &state->requests[slot][1]);
    if (error == MPI_SUCCESS)
        error = fabric_start_receive(&state->comm->fabric, state->came + slot * state->largest, bytes_from(state, from),
                                     topology_rank(topology, from, topology->local), FABRIC_DATA,
                                     &state->requests[slot][0]);
    if (error != MPI_SUCCESS)
        return error;
    const char *data = gather_for(state, to, state->packed + slot * state->largest);
    return fabric_start_send(&state->comm->fabric, data, bytes_for(state, to),
                             topology_rank(topology, to, topology->local), FABRIC_DATA, &state->requests[slot][1]);
}

/* What has come from that node is exchanged on ours: I have, from its rank at my place, something for each of us. */
static int hand_out(struct state *state, int node, const char *came)
{
    const struct topology *topology = &state->comm->topology;
    int locals = topology->locals, from = topology_rank(topology, node, topology->local);
    int64_t *room = state->room, at = 0;
    for (int local = 0; local < locals; local++) {
        int rank = topology_rank(topology, node, local);
        room[local] = counts_in(&state->counts, local, from);
        room[locals + local] = at;
        at += room[local];
        room[2 * locals + local] = blocks_bytes(&state->in, rank);
        room[3 * locals + local] = blocks_at(&state->in, rank);
    }
    return node_alltoallv(state->comm, came, room, room + locals, state->call->receive, room + 2 * locals,
                          room + 3 * locals);
}

static int exchange(struct state *state)
{
    const struct topology *topology = &state->comm->topology;
    int nodes = topology->nodes, error = MPI_SUCCESS;
    for (int round = 1; round < WINDOW && error == MPI_SUCCESS; round++)
        error = start(state, round);
    if (error == MPI_SUCCESS)
        error = exchange_on_node(state->comm, state->call, state->room);
    for (int round = 1; round < nodes && error == MPI_SUCCESS; round++) {
        int slot = round % WINDOW;
        error = start(state, round + WINDOW - 1);
        if (error == MPI_SUCCESS)
            error = fabric_wait(&state->comm->fabric, 1, &state->requests[slot][0]);
        if (error == MPI_SUCCESS)
            error = hand_out(state, (topology->node - round + nodes) % nodes, state->came + slot * state->largest);
    }
    for (int slot = 0; slot < WINDOW && error == MPI_SUCCESS; slot++)
        error = fabric_wait(&state->comm->fabric, 1, &state->requests[slot][1]);
    return error;
}

static int prepare(struct state *state)
{
    struct coll_comm *comm = state->comm;
    int error = counts_exchange(&state->counts, comm, state->call);
    if (error != MPI_SUCCESS)
        return error;
    for (int node = 0; node < comm->topology.nodes; node++) {
        int64_t out = bytes_for(state, node), in = bytes_from(state, node);
        state->largest = out > state->largest ? out : state->largest;
        state->largest = in > state->largest ? in : state->largest;
    }
    state->largest = (state->largest + 127) / 128 * 128;
    state->packed = coll_scratch(comm, SCRATCH_WORK, 2 * WINDOW * state->largest + 1);
    state->room = malloc(4 * (size_t)comm->topology.locals * sizeof *state->room);
    if (state->packed == NULL || state->room == NULL)
        return MPI_ERR_NO_MEM;
    state->came = state->packed + WINDOW * state->largest;
    return MPI_SUCCESS;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct state state = {.comm = comm, .call = call, .out = counts_send(call), .in = counts_receive(call)};
    for (int i = 0; i < WINDOW; i++)
        state.requests[i][0] = state.requests[i][1] = MPI_REQUEST_NULL;
    int error = prepare(&state);
    if (error == MPI_SUCCESS)
        error = exchange(&state);
    free(state.room);
    counts_free(&state.counts);
    return error;
}

static const char meaning[] =
    "To each node one message, to the rank at one's own place, which hands it out on its node.";
static const char reference[] =
    "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)";

const struct algorithm alltoall_lanes = {
    .name = "alltoall_lanes",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};

const struct algorithm alltoallv_lanes = {
    .name = "alltoallv_lanes",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = counts_bytes,
    .collects = scratch,
    .run = run,
};
