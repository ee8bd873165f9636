#include "alltoall_nodes.h"

#include <string.h>

#include "nodes.h"

/* A round takes up one other node for each rank of the node: the one that is 1, 2, ... further on for its first, second,
   ... rank, and so many more in the next round. What this node has for that one goes through that rank, and comes through
   the rank there whose business this node is. */
struct state {
    struct coll_comm *comm;
    const struct call *call;
    const struct counts *counts;
    struct blocks out, in;
    bool plain; /* the call's blocks for a node lie one after the other, in both buffers */
    int rounds;
    int64_t *at;            /* 2 x (rounds + 1): of each round's data in what goes out and in what comes in */
    int64_t *room;          /* 4 numbers for each rank of the node */
    char *leaving, *coming; /* [round][their rank or ours][ours or theirs] */
    char *ours, *turned;    /* blocks of a round to or from my node; what came, by my node's ranks */
    MPI_Request *requests;  /* rounds x 2 */
};

/* Of this round, for my rank `local`; -1: none. */
static int node_in_round(const struct topology *topology, int round, int local)
{
    int distance = 1 + round * topology->locals + local;
    return distance < topology->nodes ? (topology->node + distance) % topology->nodes : -1;
}

static int partner_at(const struct topology *topology, int node)
{
    int distance = (topology->node - node + topology->nodes) % topology->nodes;
    return topology_rank(topology, node, (distance - 1) % topology_locals(topology, node));
}

/* What my node's rank has for, or gets from, that node. */
static int64_t sum_of(const struct state *state, int node, int local, bool leaves)
{
    const struct topology *topology = &state->comm->topology;
    int64_t sum = 0;
    for (int i = topology->first[node]; node >= 0 && i < topology->first[node + 1]; i++) {
        int rank = topology->members[i];
        sum += leaves ? counts_out(state->counts, local, rank) : counts_in(state->counts, local, rank);
    }
    return sum;
}

/* Between the call's buffer and blocks one after the other, of all nodes of a round. */
static void copy_round(const struct state *state, int round, bool leaves)
{
    const struct topology *topology = &state->comm->topology;
    const struct blocks *blocks = leaves ? &state->out : &state->in;
    char *at = state->ours;
    for (int local = 0; local < topology->locals; local++) {
        int node = node_in_round(topology, round, local);
        for (int i = node < 0 ? 0 : topology->first[node]; node >= 0 && i < topology->first[node + 1]; i++) {
            int64_t where = blocks_at(blocks, topology->members[i]);
            int64_t bytes = blocks_bytes(blocks, topology->members[i]);
            if (bytes > 0 && leaves)
                memcpy(at, (const char *)state->call->send + where, (size_t)bytes);
            else if (bytes > 0)
                memcpy((char *)state->call->receive + where, at, (size_t)bytes);
            at += bytes;
        }
    }
}

/* Sizes and places of what I have for (get from) the nodes of each of my node's ranks in this round. */
static void arrange_ours(const struct state *state, int round, bool leaves, int64_t *bytes, int64_t *at)
{
    const struct topology *topology = &state->comm->topology;
    int64_t next = 0;
    for (int local = 0; local < topology->locals; local++) {
        int node = node_in_round(topology, round, local);
        bytes[local] = node < 0 ? 0 : sum_of(state, node, topology->local, leaves);
        at[local] = state->plain && node >= 0 ? topology->first[node] * state->call->bytes : next;
        next += bytes[local];
    }
}

/* Of the node that is my business in this round: by my node's ranks. */
static void arrange_theirs(const struct state *state, int round, bool leaves, int64_t *bytes, int64_t *at)
{
    const struct topology *topology = &state->comm->topology;
    int node = node_in_round(topology, round, topology->local);
    int64_t next = 0;
    for (int local = 0; local < topology->locals; local++) {
        bytes[local] = node < 0 ? 0 : sum_of(state, node, local, leaves);
        at[local] = next;
        next += bytes[local];
    }
}

static int send_round(struct state *state, int round)
{
    const struct topology *topology = &state->comm->topology;
    int locals = topology->locals, node = node_in_round(topology, round, topology->local);
    int64_t *room = state->room;
    char *leaving = state->leaving + state->at[round];
    arrange_ours(state, round, true, room, room + locals);
    arrange_theirs(state, round, true, room + 2 * locals, room + 3 * locals);
    if (!state->plain)
        copy_round(state, round, true);
    int error = node_alltoallv(state->comm, state->plain ? state->call->send : state->ours, room, room + locals,
                               leaving, room + 2 * locals, room + 3 * locals);
    if (error != MPI_SUCCESS || node < 0)
        return error;
    return fabric_start_send(&state->comm->fabric, leaving, state->at[round + 1] - state->at[round],
                             partner_at(topology, node), FABRIC_DATA, &state->requests[2 * round + 1]);
}

/* From [their rank][our rank] to [our rank][their rank]. */
static void turn(const struct state *state, int node, const char *from, const int64_t *at)
{
    const struct topology *topology = &state->comm->topology;
    int64_t *next = state->room; /* not in use yet */
    memcpy(next, at, (size_t)topology->locals * sizeof *next);
    for (int i = topology->first[node]; i < topology->first[node + 1]; i++)
        for (int local = 0; local < topology->locals; local++) {
            int64_t bytes = counts_in(state->counts, local, topology->members[i]);
            if (bytes > 0)
                memcpy(state->turned + next[local], from, (size_t)bytes);
            next[local] += bytes;
            from += bytes;
        }
}

static int receive_round(struct state *state, int round)
{
    const struct topology *topology = &state->comm->topology;
    int locals = topology->locals, node = node_in_round(topology, round, topology->local);
    int64_t *room = state->room, *came = state->at + state->rounds + 1;
    int error = fabric_wait(&state->comm->fabric, 1, &state->requests[2 * round]);
    if (error != MPI_SUCCESS)
        return error;
    arrange_theirs(state, round, false, room + 2 * locals, room + 3 * locals);
    if (node >= 0)
        turn(state, node, state->coming + came[round], room + 3 * locals);
    arrange_ours(state, round, false, room, room + locals);
    error = node_alltoallv(state->comm, state->turned, room + 2 * locals, room + 3 * locals,
                           state->plain ? state->call->receive : state->ours, room, room + locals);
    if (error == MPI_SUCCESS && !state->plain)
        copy_round(state, round, false);
    return error;
}

static int exchange(struct state *state)
{
    const struct topology *topology = &state->comm->topology;
    const int64_t *came = state->at + state->rounds + 1;
    int error = MPI_SUCCESS;
    for (int round = 0; round < state->rounds && error == MPI_SUCCESS; round++) {
        int node = node_in_round(topology, round, topology->local);
        if (node >= 0)
            error =
                fabric_start_receive(&state->comm->fabric, state->coming + came[round], came[round + 1] - came[round],
                                     partner_at(topology, node), FABRIC_DATA, &state->requests[2 * round]);
    }
    for (int round = 0; round < state->rounds && error == MPI_SUCCESS; round++)
        error = send_round(state, round);
    if (error == MPI_SUCCESS)
        error = exchange_on_node(state->comm, state->call, state->room);
    for (int round = 0; round < state->rounds && error == MPI_SUCCESS; round++)
        error = receive_round(state, round);
    return error == MPI_SUCCESS ? fabric_wait(&state->comm->fabric, 2 * state->rounds, state->requests) : error;
}

/* Where each round's data is; the most that my own blocks and what came take in one round. */
static void add_up(struct state *state, int64_t *ours, int64_t *theirs)
{
    const struct topology *topology = &state->comm->topology;
    int64_t *left = state->at, *came = left + state->rounds + 1;
    left[0] = came[0] = *ours = *theirs = 0;
    for (int round = 0; round < state->rounds; round++) {
        int64_t mine[2] = {0, 0};
        int node = node_in_round(topology, round, topology->local);
        left[round + 1] = left[round], came[round + 1] = came[round];
        for (int local = 0; local < topology->locals; local++) {
            int theirs_node = node_in_round(topology, round, local);
            for (int leaves = 0; leaves < 2 && theirs_node >= 0; leaves++)
                mine[leaves] += sum_of(state, theirs_node, topology->local, leaves);
            left[round + 1] += node < 0 ? 0 : sum_of(state, node, local, true);
            came[round + 1] += node < 0 ? 0 : sum_of(state, node, local, false);
        }
        for (int leaves = 0; leaves < 2; leaves++)
            *ours = mine[leaves] > *ours ? mine[leaves] : *ours;
        int64_t here = came[round + 1] - came[round];
        *theirs = here > *theirs ? here : *theirs;
    }
}

static int prepare(struct state *state)
{
    struct coll_comm *comm = state->comm;
    int locals = comm->topology.locals;
    state->plain = comm->topology.in_order && state->call->collective == COLL_ALLTOALL;
    state->rounds = (comm->topology.nodes - 1 + locals - 1) / locals;
    size_t rounds = (size_t)state->rounds;
    state->at = malloc((2 * (rounds + 1) + 4 * (size_t)locals) * sizeof *state->at);
    state->requests = malloc(2 * rounds * sizeof *state->requests);
    if (state->at == NULL || state->requests == NULL)
        return MPI_ERR_NO_MEM;
    state->room = state->at + 2 * (rounds + 1);
    for (size_t i = 0; i < 2 * rounds; i++)
        state->requests[i] = MPI_REQUEST_NULL;
    int64_t ours, theirs, left, came;
    add_up(state, &ours, &theirs);
    left = state->at[rounds], came = state->at[2 * rounds + 1];
    state->leaving = coll_scratch(comm, SCRATCH_WORK, left + came + 1);
    state->ours = coll_scratch(comm, SCRATCH_OTHER, ours + theirs + 1);
    if (state->leaving == NULL || state->ours == NULL)
        return MPI_ERR_NO_MEM;
    state->coming = state->leaving + left;
    state->turned = state->ours + ours;
    return MPI_SUCCESS;
}

int alltoall_by_nodes(struct coll_comm *comm, const struct call *call, const struct counts *counts)
{
    struct state state = {.comm = comm, .call = call, .counts = counts};
    state.out = counts_send(call);
    state.in = counts_receive(call);
    int error = prepare(&state);
    if (error == MPI_SUCCESS)
        error = exchange(&state);
    free(state.at);
    free(state.requests);
    return error;
}
