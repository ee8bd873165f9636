#include "allreduce.h"

#include <string.h>

#include "cells.h"
#include "messages.h"
#include "node.h"

/* Combines what all have posted in this step, in order of the local numbers. `own`: this rank's, `theirs`: of others. */
static void combine_lines(struct coll_comm *comm, uint64_t step, const void *own, void *receive, int64_t count,
                          const struct reduction *reduction)
{
    struct node *node = comm->node;
    const void *left = node->rank == 0 ? own : line_wait(comm, 0, step)->payload;
    for (int local = 1; local < node->ranks; local++, left = receive)
        reduction->combine(reduction, left, local == node->rank ? own : line_wait(comm, local, step)->payload, receive,
                           count);
}

int node_allreduce_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    line_room(comm, step);
    struct line *own = line_of(node, node->rank, step);
    memcpy(own->payload, send, (size_t)(count * reduction->element));
    line_post(node, step);
    combine_lines(comm, step, own->payload, receive, count, reduction);
    node_know(node, step);
    node_pass(node, step + 1);
    return MPI_SUCCESS;
}

int node_allreduce_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction)
{
    struct node *node = comm->node;
    int64_t each = cells_ready(comm) ? node->cell_bytes / reduction->element : 0;
    if (each == 0)
        return messages_allreduce(comm, send, receive, count, reduction);
    uint64_t step = node_steps(node, (uint64_t)((count + each - 1) / each));
    const char *from = send;
    char *to = receive;
    for (; count > 0; count -= each, step++) {
        int64_t piece = count < each ? count : each;
        cell_room(comm, step);
        unsigned char *own = cell_of(node, node->rank, step);
        memcpy(own, from, (size_t)(piece * reduction->element));
        line_post(node, step);
        for (int local = 0; local < node->ranks; local++)
            line_wait(comm, local, step);
        const void *left = cell_of(node, 0, step);
        for (int local = 1; local < node->ranks; local++, left = to)
            reduction->combine(reduction, left, cell_of(node, local, step), to, piece);
        node_pass(node, step + 1);
        from += each * reduction->element, to += each * reduction->element;
    }
    return MPI_SUCCESS;
}

int node_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction)
{
    if (!comm->node->shared)
        return messages_allreduce(comm, send, receive, count, reduction);
    if (count * reduction->element <= LINE_ROOM)
        return node_allreduce_inline(comm, send, receive, count, reduction);
    return node_allreduce_cells(comm, send, receive, count, reduction);
}
