#include "allreduce.h"

#include <string.h>

#include "../reduction.h"
#include "cells.h"
#include "combine.h"
#include "messages.h"
#include "node.h"
#include "slices.h"
#include "trade.h"

/* Whether this rank's own elements are lost when those of the ranks before it are combined into the result. */
static bool overwrites(const struct node *node, const void *send, const void *receive)
{
    return send == receive && node->rank > 1;
}

int node_allreduce_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    line_room(comm, step);
    struct line *line = line_of(node, node->rank, step);
    memcpy(line->payload, send, (size_t)(count * reduction->element));
    line_post(node, step);
    /* Not from the line where it can be helped: others are taking that away just now. */
    const void *own = overwrites(node, send, receive) ? line->payload : send;
    combine_lines(comm, step, own, receive, count, reduction);
    node_know(node, step);
    node_pass(node, step + 1);
    line_prepare(node);
    return wait_outcome(comm);
}

/* Copies elements into this rank's cell of a step, for all. */
static void post_cell(struct coll_comm *comm, uint64_t step, const void *from, int64_t bytes, int64_t place)
{
    struct node *node = comm->node;
    cell_room(comm, step);
    cell_write(cell_piece_of(node, node->rank, step, place), from, bytes, node->way);
    line_post(node, step);
}

int node_allreduce_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    struct node *node = comm->node;
    int64_t element = reduction->element, each = cells_ready(comm) ? node->cell_bytes / element : 0;
    if (each == 0)
        return messages_allreduce(comm, send, receive, count, reduction);
    if (count == 0)
        return MPI_SUCCESS;
    const int64_t all = count * element, place = cell_piece_for(node, all);
    if (node_trades(node, all)) {
        const struct trade trade = {
            .send = send, .out = all, .receive = receive, .in = all, .own = send, .reduction = reduction};
        return node_trade(comm, &trade);
    }
    uint64_t step = node_steps(node, (uint64_t)((count + each - 1) / each));
    bool from_cell = overwrites(node, send, receive);
    cells_begin(node, all);
    const char *from = send;
    char *to = receive;
    /* A piece ahead, so that what one waits for was posted while the one before was combined. */
    post_cell(comm, step, from, (count < each ? count : each) * element, place);
    for (; count > 0; count -= each, step++, from += each * element, to += each * element) {
        int64_t piece = count < each ? count : each, next = count - piece < each ? count - piece : each;
        if (next > 0)
            post_cell(comm, step + 1, from + each * element, next * element, place);
        const void *own = from_cell ? (const char *)cell_piece_of(node, node->rank, step, place) : from;
        const struct posted posted = {.step = step, .piece = place, .expects = next > 0};
        combine_posted(comm, &posted, own, to, piece, reduction);
        node_pass(node, step + 1);
    }
    cell_prepare(node, all, place);
    return wait_outcome(comm);
}

int node_allreduce_slices(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction, int64_t segment)
{
    struct slices slices = {.which = SLICES_ALL,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .segment = segment,
                            .reduction = reduction};
    return node_slices_fit(comm, reduction->element) ? node_slices(comm, &slices)
                                                     : messages_allreduce(comm, send, receive, count, reduction);
}

/* Groups of so many consecutive ranks, the last one smaller. */
static int group_size(int ranks)
{
    int size = 1;
    while (size * size < ranks)
        size++;
    return size;
}

/* What this rank posts in a step: in its line, or in its cell when that is too small. */
static void *post_at(struct coll_comm *comm, uint64_t step, int64_t bytes)
{
    struct node *node = comm->node;
    if (bytes <= LINE_ROOM) {
        line_room(comm, step);
        return line_of(node, node->rank, step)->payload;
    }
    cell_room(comm, step);
    return cell_of(node, node->rank, step);
}

static const void *posted_by(struct coll_comm *comm, int local, uint64_t step, int64_t bytes)
{
    const struct line *line = line_wait(comm, local, step);
    return bytes <= LINE_ROOM ? (const void *)line->payload : cell_of(comm->node, local, step);
}

/* Combines what ranks first, first + stride ... below `end` posted. */
static void combine_every(struct coll_comm *comm, uint64_t step, int first, int end, int stride, void *result,
                          int64_t count, const struct reduction *reduction)
{
    int64_t bytes = count * reduction->element;
    const void *left = posted_by(comm, first, step, bytes);
    if (first + stride >= end)
        memcpy(result, left, (size_t)bytes);
    for (int local = first + stride; local < end; local += stride, left = result)
        reduction->combine(reduction, left, posted_by(comm, local, step, bytes), result, count);
}

int node_allreduce_groups(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction)
{
    struct node *node = comm->node;
    int64_t bytes = count * reduction->element;
    if (bytes > LINE_ROOM && (!cells_ready(comm) || bytes > node->cell_bytes))
        return messages_allreduce(comm, send, receive, count, reduction);
    uint64_t step = node_steps(node, 2);
    int size = group_size(node->ranks), first = node->rank / size * size;
    int end = first + size < node->ranks ? first + size : node->ranks;
    memcpy(post_at(comm, step, bytes), send, (size_t)bytes);
    line_post(node, step);
    if (node->rank == first) {
        void *room = post_at(comm, step + 1, bytes);
        combine_every(comm, step, first, end, 1, room, count, reduction);
        line_post(node, step + 1);
    }
    combine_every(comm, step + 1, 0, node->ranks, size, receive, count, reduction);
    node_know(node, step); /* leaders post what they combine when all of their group have come this far */
    node_pass(node, step + 2);
    line_prepare(node);
    return wait_outcome(comm);
}

int node_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction)
{
    const struct node *node = comm->node;
    int64_t bytes = count * reduction->element;
    if (!node->shared)
        return messages_allreduce(comm, send, receive, count, reduction);
    if (node->ranks > ALLREDUCE_FLAT_RANKS && bytes <= ALLREDUCE_GROUPS_BYTES)
        return node_allreduce_groups(comm, send, receive, count, reduction);
    if (bytes <= LINE_ROOM)
        return node_allreduce_inline(comm, send, receive, count, reduction);
    if (bytes <= (node->crowded ? ALLREDUCE_CROWDED_BYTES : ALLREDUCE_FLAT_BYTES) / node->ranks)
        return node_allreduce_cells(comm, send, receive, count, reduction);
    return node_allreduce_slices(comm, send, receive, count, reduction, 0);
}
