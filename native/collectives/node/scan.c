#include "scan.h"

#include <string.h>

#include "../group/group.h"
#include "cells.h"
#include "node.h"

/* What this rank combines: of local numbers 0 .. end - 1. */
static int end_of(const struct node *node, bool exclusive)
{
    return exclusive ? node->rank : node->rank + 1;
}

/* Whether this rank's own elements are lost when those of the ranks before it are combined into the result. */
static bool overwrites(const struct node *node, const void *send, const void *receive, bool exclusive)
{
    return send == receive && node->rank > 1 && !exclusive;
}

/* The next of them, behind what was combined before; NULL: it is the first. Where the result is then. */
static const void *combine_next(const struct reduction *reduction, const void *left, const void *next, void *result,
                                int64_t count)
{
    if (left == NULL)
        return next;
    reduction->combine(reduction, left, next, result, count);
    return result;
}

/* Of one rank alone there is nothing to combine. */
static void settle(const void *found, void *result, int64_t bytes)
{
    if (found != NULL && found != result)
        memcpy(result, found, (size_t)bytes);
}

int node_scan_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction, bool exclusive)
{
    struct node *node = comm->node;
    const int64_t bytes = count * reduction->element;
    uint64_t step = node_steps(node, 1);
    line_room(comm, step);
    struct line *line = line_of(node, node->rank, step);
    memcpy(line->payload, send, (size_t)bytes);
    line_post(node, step);
    const void *own = overwrites(node, send, receive, exclusive) ? line->payload : send, *left = NULL;
    for (int local = 0; local < end_of(node, exclusive); local++) {
        const void *next = local == node->rank ? own : line_wait(comm, local, step)->payload;
        left = combine_next(reduction, left, next, receive, count);
    }
    settle(left, receive, bytes);
    node_pass(node, step + 1);
    line_prepare(node);
    return wait_outcome(comm);
}

int node_scan_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction, bool exclusive)
{
    struct node *node = comm->node;
    const int64_t element = reduction->element, all = count * element;
    const int64_t bytes = node->cell_bytes < CELL_PIECE ? node->cell_bytes : CELL_PIECE;
    const int64_t each = cells_ready(comm) ? bytes / element : 0;
    if (each == 0) {
        const struct group group = group_node(comm);
        return group_scan(&group, send, receive, count, reduction, exclusive);
    }
    cells_begin(node, all);
    const bool from_cell = overwrites(node, send, receive, exclusive);
    const bool posts = from_cell || node->rank + 1 < node->ranks; /* nobody reads the last one's */
    uint64_t step = node_steps(node, (uint64_t)((count + each - 1) / each));
    for (int64_t done = 0; done < count; done += each, step++) {
        const int64_t piece = count - done < each ? count - done : each, at = done * element;
        const void *own = (const char *)send + at, *left = NULL;
        void *result = receive == NULL ? NULL : (char *)receive + at;
        if (posts) {
            cell_room(comm, step);
            void *cell = memcpy(cell_piece_of(node, node->rank, step, bytes), own, (size_t)(piece * element));
            line_post(node, step);
            own = from_cell ? cell : own;
        }
        for (int local = 0; local < end_of(node, exclusive); local++) {
            const void *next = own;
            if (local != node->rank) {
                line_wait(comm, local, step);
                next = cell_piece_of(node, local, step, bytes);
            }
            left = combine_next(reduction, left, next, result, piece);
        }
        settle(left, result, piece * element);
        if (node->rank > 0)
            cell_has_read(cell_piece_of(node, 0, step, bytes), piece * element, node->way);
        node_pass(node, step + 1);
    }
    if (posts)
        cell_prepare(node, all, bytes);
    return wait_outcome(comm);
}

int node_scan(struct coll_comm *comm, const void *send, void *receive, int64_t count, const struct reduction *reduction,
              bool exclusive)
{
    if (comm->node->shared && count * reduction->element <= LINE_ROOM)
        return node_scan_inline(comm, send, receive, count, reduction, exclusive);
    if (comm->node->shared)
        return node_scan_cells(comm, send, receive, count, reduction, exclusive);
    const struct group group = group_node(comm);
    return group_scan(&group, send, receive, count, reduction, exclusive);
}
