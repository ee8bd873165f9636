#include "reduce.h"

#include <string.h>

#include "cells.h"
#include "combine.h"
#include "messages.h"
#include "node.h"
#include "slices.h"

int node_reduce_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction)
{
    struct node *node = comm->node;
    int64_t bytes = node->cell_bytes < CELL_PIECE ? node->cell_bytes : CELL_PIECE;
    int64_t each = cells_ready(comm) ? bytes / reduction->element : 0;
    if (each == 0)
        return messages_reduce(comm, root, send, receive, count, reduction);
    uint64_t step = node_steps(node, (uint64_t)((count + each - 1) / each));
    const int64_t all = count * reduction->element;
    cells_begin(node, all);
    const char *from = send;
    char *to = receive;
    for (; count > 0; count -= each, step++) {
        int64_t piece = count < each ? count : each;
        if (node->rank == root) {
            const void *own = from;
            if (from == to && root > 1) { /* what is combined before comes to lie over it */
                cell_room(comm, step);
                own = memcpy(cell_piece_of(node, root, step, bytes), from, (size_t)(piece * reduction->element));
            }
            const struct posted posted = {.step = step, .piece = bytes};
            combine_posted(comm, &posted, own, to, piece, reduction);
            to += each * reduction->element;
        } else {
            cell_room(comm, step);
            memcpy(cell_piece_of(node, node->rank, step, bytes), from, (size_t)(piece * reduction->element));
            line_post(node, step);
        }
        node_pass(node, step + 1);
        from += each * reduction->element;
    }
    if (node->rank != root)
        cell_prepare(node, all, bytes);
    return wait_outcome(comm);
}

int node_reduce_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    const size_t bytes = (size_t)(count * reduction->element);
    if (node->rank == root) {
        _Alignas(LINE_BYTES) unsigned char kept[LINE_ROOM];
        /* What is combined before comes to lie over it. */
        const void *own = send == receive && root > 1 ? memcpy(kept, send, bytes) : send;
        combine_lines(comm, step, own, receive, count, reduction);
    } else {
        line_room(comm, step);
        memcpy(line_of(node, node->rank, step)->payload, send, bytes);
        line_post(node, step);
    }
    node_pass(node, step + 1);
    if (node->rank != root)
        line_prepare(node);
    return wait_outcome(comm);
}

int node_reduce_slices(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction, int64_t segment)
{
    struct slices slices = {.which = SLICES_ROOT,
                            .root = root,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .segment = segment,
                            .reduction = reduction};
    return node_slices_fit(comm, reduction->element) ? node_slices(comm, &slices)
                                                     : messages_reduce(comm, root, send, receive, count, reduction);
}

int node_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                const struct reduction *reduction)
{
    if (!comm->node->shared)
        return messages_reduce(comm, root, send, receive, count, reduction);
    if (!comm->node->crowded && comm->node->ranks > REDUCE_ROOT_RANKS && count * reduction->element > REDUCE_ROOT_BYTES)
        return node_reduce_slices(comm, root, send, receive, count, reduction, 0);
    return node_reduce_cells(comm, root, send, receive, count, reduction);
}

int node_reduce_scatter(struct coll_comm *comm, const void *send, void *receive, const int64_t *counts_at,
                        const struct reduction *reduction)
{
    struct slices slices = {
        .which = SLICES_OWN, .send = send, .receive = receive, .at = counts_at, .reduction = reduction};
    if (!comm->node->shared || !node_slices_fit(comm, reduction->element))
        return messages_reduce_scatter(comm, send, receive, counts_at, reduction);
    return node_slices(comm, &slices);
}
