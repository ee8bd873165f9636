#include "reduce_scatter.h"

#include <string.h>

#include "../group/group.h"
#include "cells.h"
#include "node.h"
#include "trade.h"

/* One call. */
struct work {
    struct coll_comm *comm;
    const char *send;
    const int64_t *bytes, *at;
    const struct reduction *reduction;
};

static int64_t longest(const struct work *work)
{
    int64_t most = 0;
    for (int local = 0; local < work->comm->node->ranks; local++)
        most = work->bytes[local] > most ? work->bytes[local] : most;
    return most;
}

/* Bytes of a rank's block from `from` on, at most `most`. */
static int64_t within(const struct work *work, int local, int64_t from, int64_t most)
{
    int64_t left = work->bytes[local] - from;
    return left < 0 ? 0 : left < most ? left : most;
}

int node_reduce_scatter_inline(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                               const int64_t *at, const struct reduction *reduction)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    const int64_t own = bytes[node->rank];
    line_room(comm, step);
    unsigned char *to = line_of(node, node->rank, step)->payload;
    int64_t before = 0; /* of the blocks of lower ranks in a line, which leaves out that of who posts it */
    for (int local = 0; local < node->ranks; local++) {
        if (local == node->rank)
            continue;
        memcpy(to, (const char *)send + at[local], (size_t)bytes[local]);
        to += bytes[local];
        before += local < node->rank ? bytes[local] : 0;
    }
    line_post(node, step);
    const void *left = NULL;
    for (int local = 0; local < node->ranks; local++) {
        const void *right = (const char *)send + at[node->rank];
        if (local != node->rank)
            right = line_wait(comm, local, step)->payload + before - (local < node->rank ? bytes[local] : 0);
        if (local > 0)
            reduction->combine(reduction, left, right, receive, own / reduction->element);
        left = local > 0 ? receive : right;
    }
    node_know(node, step);
    node_pass(node, step + 1);
    line_prepare(node);
    return wait_outcome(comm);
}

/* Of every other rank's block the part from `from` on, at most `part` bytes, into this rank's cell. */
static void post_parts(const struct work *work, uint64_t step, int64_t from, int64_t part)
{
    struct node *node = work->comm->node;
    cell_room(work->comm, step);
    unsigned char *cell = cell_piece_of(node, node->rank, step, part * node->ranks);
    for (int local = 0; local < node->ranks; local++) {
        int64_t now = within(work, local, from, part);
        if (local != node->rank && now > 0)
            memcpy(cell + local * part, work->send + work->at[local] + from, (size_t)now);
    }
    line_post(node, step);
}

static void combine_parts(const struct work *work, uint64_t step, int64_t from, int64_t part, char *receive)
{
    struct node *node = work->comm->node;
    const char *own = work->send + work->at[node->rank] + from;
    const int64_t count = within(work, node->rank, from, part) / work->reduction->element;
    const void *left = own;
    for (int local = 0; local < node->ranks; local++) {
        const void *right = own;
        if (local != node->rank) {
            line_wait(work->comm, local, step);
            if (from + part < longest(work))
                line_expect(node, local, step + 1);
            right = cell_piece_of(node, local, step, part * node->ranks) + node->rank * part;
        }
        if (local > 0 && count > 0)
            work->reduction->combine(work->reduction, left, right, receive + from, count);
        left = local > 0 ? receive + from : right;
    }
    if (node->ranks == 2)
        cell_has_read(cell_piece_of(node, 1 - node->rank, step, part * 2) + node->rank * part,
                      count * work->reduction->element, node->way);
    node_pass(node, step + 1);
}

/* Bytes of each block that go at a time: no more than is left of the longest, so that short ones lie together. */
static int64_t part_of(const struct work *work)
{
    const int64_t line = 64, element = work->reduction->element, all = longest(work);
    int64_t part = work->comm->node->cell_bytes / work->comm->node->ranks;
    part = part < all ? part : all;
    if (part < all && part / element * element > line && line % element == 0)
        return part / line * line;
    return part / element * element;
}

int node_reduce_scatter_cells(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                              const int64_t *at, const struct reduction *reduction)
{
    struct node *node = comm->node;
    const struct work work = {comm, send, bytes, at, reduction};
    const int64_t all = longest(&work);
    if (!cells_ready(comm)) {
        struct group group = group_node(comm);
        const struct blocks blocks = {.bytes = bytes, .at = at};
        return group_reduce_scatter_pairwise(&group, send, receive, &blocks, reduction);
    }
    if (all == 0)
        return MPI_SUCCESS;
    if (node_trades(node, all)) {
        const int other = 1 - node->rank;
        const struct trade trade = {.send = (const char *)send + at[other],
                                    .out = bytes[other],
                                    .receive = receive,
                                    .in = bytes[node->rank],
                                    .own = (const char *)send + at[node->rank],
                                    .reduction = reduction};
        return node_trade(comm, &trade);
    }
    const int64_t part = part_of(&work), parts = (all + part - 1) / part;
    cells_begin(node, all * node->ranks);
    uint64_t step = node_steps(node, (uint64_t)parts);
    /* A part ahead, so that what one waits for was posted while the one before was combined. */
    post_parts(&work, step, 0, part);
    for (int64_t from = 0; from < all; from += part, step++) {
        if (from + part < all)
            post_parts(&work, step + 1, from + part, part);
        combine_parts(&work, step, from, part, receive);
    }
    if (parts == 1)
        cell_prepare(node, part * node->ranks, part * node->ranks);
    else
        line_prepare(node);
    return wait_outcome(comm);
}
