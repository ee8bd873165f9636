#include "exchange.h"

#include <string.h>

#include "copy.h"

int64_t exchange_pull_measured;

/* One exchange that goes on. */
struct state {
    struct coll_comm *comm;
    struct pairs *pairs;
    const char *send;
    char *receive;
    int64_t pull_from;
    bool streaming; /* stores go past the cache */
    int open;       /* messages that are not yet sent, or received, to the end */
    int error;
};

/* A cell whose last content has been taken; -1: none. */
static int free_cell(struct pairs *pairs)
{
    for (int i = 0; i < PAIR_CELLS; i++) {
        int cell = (pairs->next_cell + i) % PAIR_CELLS;
        int to = pairs->uses[cell].to;
        if (to < 0 || pair_taken(&pairs->pairs[to], pairs->uses[cell].number)) {
            pairs->next_cell = (cell + 1) % PAIR_CELLS;
            return cell;
        }
    }
    return -1;
}

static int64_t piece_of(const struct pairs *pairs, int64_t left)
{
    return left < pairs->cell_bytes ? left : pairs->cell_bytes;
}

/* Sends the next piece to a rank, if there is room for it. */
static bool send_piece(struct state *state, int to)
{
    struct pairs *pairs = state->pairs;
    struct pair *pair = &pairs->pairs[to];
    if (!pair_room(pair))
        return false;
    const char *from = state->send + pair->at_out;
    struct pair_line *line = pair_line(pair);
    int64_t piece = pair->left_out;
    const enum cell_way how = cell_way_of(pair->left_out, pairs->cell_bytes, true);
    enum way way = exchange_way(piece, pairs->slot_bytes, state->pull_from);
    if (way == WAY_INLINE)
        memcpy(line->payload, from, (size_t)piece);
    else if (way == WAY_SLOT)
        cell_write(pair_slot(pairs, state->comm->node->rank, to, pair->sent), from, piece, how);
    else if (way == WAY_PULL) {
        uint64_t address = pull_address(from);
        memcpy(line->payload, &address, sizeof address);
        pair->lent = pair->sent + 1;
    } else {
        int cell = free_cell(pairs);
        if (cell < 0)
            return false;
        piece = piece_of(pairs, pair->left_out);
        const struct pair_place place = pair_place(pairs, cell, piece, how);
        cell_write(pair_cell(pairs, state->comm->node->rank, place), from, piece, how);
        memcpy(line->payload, &place, sizeof place);
        pairs->uses[cell].to = to;
        pairs->uses[cell].number = pair->sent;
    }
    pair_post(pair, line);
    pair->at_out += piece;
    pair->left_out -= piece;
    state->open -= pair->left_out == 0;
    return true;
}

/* Receives the next piece of a rank, if it has come. */
static bool receive_piece(struct state *state, int from)
{
    struct pairs *pairs = state->pairs;
    struct pair *pair = &pairs->pairs[from];
    const struct pair_line *line = pair_came(pair);
    if (line == NULL)
        return false;
    char *to = state->receive + pair->at_in;
    int64_t piece = pair->left_in;
    const enum cell_way how = cell_way_of(pair->left_in, pairs->cell_bytes, true);
    enum way way = exchange_way(piece, pairs->slot_bytes, state->pull_from);
    if (way == WAY_INLINE)
        memcpy(to, line->payload, (size_t)piece);
    else if (way == WAY_SLOT)
        cell_read(to, pair_slot(pairs, from, state->comm->node->rank, pair->received), piece, how, false);
    else if (way == WAY_PULL) {
        uint64_t address;
        memcpy(&address, line->payload, sizeof address);
        int error = pull_read(&state->comm->node->pull, from, address, to, piece);
        state->error = state->error ? state->error : error; /* the sender must have its memory back all the same */
    } else {
        struct pair_place place;
        memcpy(&place, line->payload, sizeof place);
        piece = piece_of(pairs, pair->left_in);
        cell_read(to, pair_cell(pairs, from, place), piece, how, state->streaming);
    }
    pair_take(pair);
    pair->at_in += piece;
    pair->left_in -= piece;
    state->open -= pair->left_in == 0;
    return true;
}

static void copy_own(const struct state *state, const struct flow *out, const struct flow *in)
{
    int me = state->comm->node->rank;
    int64_t bytes = flow_bytes(out, me);
    if (bytes == 0)
        return;
    const char *from = state->send + flow_at(out, me);
    char *to = state->receive + flow_at(in, me);
    if (from != to)
        copy_piece(to, from, bytes, state->streaming);
}

static void start(struct state *state, const struct flow *out, const struct flow *in)
{
    int64_t all = 0;
    for (int local = 0; local < state->comm->node->ranks; local++) {
        struct pair *pair = &state->pairs->pairs[local];
        bool other = local != state->comm->node->rank;
        pair->at_out = flow_at(out, local), pair->left_out = other ? flow_bytes(out, local) : 0;
        pair->at_in = flow_at(in, local), pair->left_in = other ? flow_bytes(in, local) : 0;
        state->open += (pair->left_out > 0) + (pair->left_in > 0);
        all += flow_bytes(out, local) + flow_bytes(in, local);
    }
    state->streaming = all >= state->pairs->streams_from;
}

/* One piece to each that still gets something, and of each that still has something. Ranks begin with different
   partners: sending to those above, receiving from those below. */
static bool sweep(struct state *state)
{
    int me = state->comm->node->rank, ranks = state->comm->node->ranks;
    bool moved = false;
    for (int i = 1; i < ranks && state->open > 0; i++) {
        int to = me + i < ranks ? me + i : me + i - ranks, from = me >= i ? me - i : me - i + ranks;
        if (state->pairs->pairs[to].left_out > 0)
            moved = send_piece(state, to) || moved;
        if (state->pairs->pairs[from].left_in > 0)
            moved = receive_piece(state, from) || moved;
    }
    return moved;
}

/* Whoever lent its memory waits until it has it back. */
static void await_lent(struct state *state)
{
    for (int local = 0; local < state->comm->node->ranks; local++) {
        struct pair *pair = &state->pairs->pairs[local];
        unsigned turn = 0;
        while (pair->lent > 0 && !pair_taken(pair, pair->lent - 1) && wait_turn(state->comm, &turn))
            ;
        pair->lent = 0;
    }
}

/* Fetches what the next messages will be written to: their receivers have it since they read the last ones there, and
   taking it away would be what the next call waits for. Of many receivers only the first ones. */
static void prepare(const struct node *node, const struct flow *out)
{
    enum { SOME = 4, LINE = 64 };
    const struct pairs *pairs = node->pairs;
    for (int i = 1; i < node->ranks && i <= SOME; i++) {
        int to = node->rank + i < node->ranks ? node->rank + i : node->rank + i - node->ranks;
        const struct pair *next = &pairs->pairs[to];
        const unsigned char *line = (const unsigned char *)pair_line(next);
        int64_t bytes = flow_bytes(out, to);
        cpu_prepare_write(line);
        cpu_prepare_write(line + LINE);
        if (bytes > PAIR_ROOM && bytes <= pairs->slot_bytes)
            memory_prepare(pair_slot(pairs, node->rank, to, next->sent), bytes);
    }
}

int exchange(struct coll_comm *comm, const void *send, const struct flow *out, void *receive, const struct flow *in,
             int64_t pull_from)
{
    struct state state = {comm, comm->node->pairs, send, receive, pull_from, false, 0, MPI_SUCCESS};
    start(&state, out, in);
    if (state.open > 0)
        sweep(&state);
    copy_own(&state, out, in);
    for (unsigned turn = 0; state.open > 0;) {
        if (sweep(&state))
            turn = 0;
        else if (!wait_turn(comm, &turn))
            return MPI_ERR_OTHER;
    }
    if (pull_from != INT64_MAX)
        await_lent(&state);
    prepare(comm->node, out);
    return state.error ? state.error : wait_outcome(comm);
}

int exchange_inline(struct coll_comm *comm, const void *send, const struct flow *out, void *receive,
                    const struct flow *in)
{
    struct pairs *pairs = comm->node->pairs;
    int me = comm->node->rank, ranks = comm->node->ranks;
    for (int i = 1; i < ranks; i++) {
        int to = me + i < ranks ? me + i : me + i - ranks;
        struct pair *pair = &pairs->pairs[to];
        size_t bytes = (size_t)flow_bytes(out, to);
        if (bytes == 0)
            continue;
        for (unsigned turn = 0; !pair_room(pair);)
            if (!wait_turn(comm, &turn))
                return MPI_ERR_OTHER;
        struct pair_line *line = pair_line(pair);
        memcpy(line->payload, (const char *)send + flow_at(out, to), bytes);
        pair_post(pair, line);
    }
    if (flow_bytes(out, me) > 0) /* else there may be no memory at all */
        memcpy((char *)receive + flow_at(in, me), (const char *)send + flow_at(out, me), (size_t)flow_bytes(out, me));
    for (int i = 1; i < ranks; i++) {
        int from = me >= i ? me - i : me - i + ranks;
        struct pair *pair = &pairs->pairs[from];
        size_t bytes = (size_t)flow_bytes(in, from);
        if (bytes == 0)
            continue;
        const struct pair_line *line = pair_came(pair);
        for (unsigned turn = 0; line == NULL; line = pair_came(pair))
            if (!wait_turn(comm, &turn))
                return MPI_ERR_OTHER;
        memcpy((char *)receive + flow_at(in, from), line->payload, bytes);
        pair_take(pair);
    }
    prepare(comm->node, out);
    return wait_outcome(comm);
}
