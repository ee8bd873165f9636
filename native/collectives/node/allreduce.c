#include "allreduce.h"

#include <string.h>

#include "cells.h"
#include "messages.h"
#include "node.h"

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
    const void *left = node->rank == 0 ? own : line_wait(comm, 0, step)->payload;
    for (int local = 1; local < node->ranks; local++, left = receive)
        reduction->combine(reduction, left, local == node->rank ? own : line_wait(comm, local, step)->payload, receive,
                           count);
    node_know(node, step);
    node_pass(node, step + 1);
    line_prepare(node);
    return MPI_SUCCESS;
}

int node_allreduce_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    struct node *node = comm->node;
    int64_t element = reduction->element, each = cells_ready(comm) ? node->cell_bytes / element : 0;
    if (each == 0)
        return messages_allreduce(comm, send, receive, count, reduction);
    uint64_t step = node_steps(node, (uint64_t)((count + each - 1) / each));
    const char *from = send;
    char *to = receive;
    for (; count > 0; count -= each, step++, from += each * element, to += each * element) {
        int64_t piece = count < each ? count : each;
        cell_room(comm, step);
        const void *own = memcpy(cell_of(node, node->rank, step), from, (size_t)(piece * element));
        line_post(node, step);
        if (!overwrites(node, send, receive))
            own = from;
        line_wait(comm, 0, step);
        const void *left = node->rank == 0 ? own : cell_of(node, 0, step);
        for (int local = 1; local < node->ranks; local++, left = to) {
            line_wait(comm, local, step);
            reduction->combine(reduction, left, local == node->rank ? own : cell_of(node, local, step), to, piece);
        }
        node_pass(node, step + 1);
    }
    cell_prepare(node, from - (const char *)send);
    return MPI_SUCCESS;
}

/* A vector that goes through cells in chunks, of which each rank combines one slice. */
struct slices {
    struct coll_comm *comm;
    const struct reduction *reduction;
    const char *send;
    char *receive;
    int64_t count, each; /* elements in all, in a chunk */
    uint64_t step;       /* chunk c: in step + 2c everybody posts what it has, in the next one its slice combined */
};

static int64_t chunk_count(const struct slices *slices, int64_t chunk)
{
    int64_t left = slices->count - chunk * slices->each;
    return left < slices->each ? left : slices->each;
}

/* Where the slice of a rank begins, in bytes from the chunk's begin. */
static int64_t slice_at(const struct slices *slices, int64_t chunk, int local)
{
    return chunk_count(slices, chunk) * local / slices->comm->node->ranks * slices->reduction->element;
}

static int64_t chunk_at(const struct slices *slices, int64_t chunk)
{
    return chunk * slices->each * slices->reduction->element;
}

/* What the others are to combine. */
static void offer(const struct slices *slices, int64_t chunk)
{
    struct node *node = slices->comm->node;
    uint64_t step = slices->step + 2 * (uint64_t)chunk;
    const char *from = slices->send + chunk_at(slices, chunk);
    int64_t begin = slice_at(slices, chunk, node->rank), end = slice_at(slices, chunk, node->rank + 1);
    int64_t all = chunk_count(slices, chunk) * slices->reduction->element;
    if (overwrites(node, slices->send, slices->receive))
        begin = end;
    cell_room(slices->comm, step);
    unsigned char *cell = cell_of(node, node->rank, step);
    memcpy(cell, from, (size_t)begin);
    memcpy(cell + end, from + end, (size_t)(all - end));
    line_post(node, step);
}

static void combine_slice(const struct slices *slices, int64_t chunk)
{
    struct coll_comm *comm = slices->comm;
    struct node *node = comm->node;
    uint64_t step = slices->step + 2 * (uint64_t)chunk;
    int64_t begin = slice_at(slices, chunk, node->rank), bytes = slice_at(slices, chunk, node->rank + 1) - begin;
    int64_t count = bytes / slices->reduction->element;
    char *to = slices->receive + chunk_at(slices, chunk) + begin;
    const void *own = overwrites(node, slices->send, slices->receive)
                          ? (const void *)(cell_of(node, node->rank, step) + begin)
                          : slices->send + chunk_at(slices, chunk) + begin;
    line_wait(comm, 0, step);
    const void *left = node->rank == 0 ? own : cell_of(node, 0, step) + begin;
    for (int local = 1; local < node->ranks; local++, left = to) {
        line_wait(comm, local, step);
        const void *right = local == node->rank ? own : cell_of(node, local, step) + begin;
        slices->reduction->combine(slices->reduction, left, right, to, count);
    }
    cell_room(comm, step + 1);
    memcpy(cell_of(node, node->rank, step + 1), to, (size_t)bytes);
    line_post(node, step + 1);
}

static void collect(const struct slices *slices, int64_t chunk)
{
    struct node *node = slices->comm->node;
    uint64_t step = slices->step + 2 * (uint64_t)chunk + 1;
    char *to = slices->receive + chunk_at(slices, chunk);
    for (int i = 1; i < node->ranks; i++) {
        int local = (node->rank + i) % node->ranks;
        int64_t begin = slice_at(slices, chunk, local), end = slice_at(slices, chunk, local + 1);
        line_wait(slices->comm, local, step);
        memcpy(to + begin, cell_of(node, local, step), (size_t)(end - begin));
    }
    node_pass(node, step + 1);
}

int node_allreduce_slices(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction, int64_t segment)
{
    struct node *node = comm->node;
    int64_t bytes = segment > 0 && segment < node->cell_bytes ? segment : node->cell_bytes;
    int64_t each = cells_ready(comm) ? bytes / reduction->element : 0;
    if (each == 0)
        return messages_allreduce(comm, send, receive, count, reduction);
    int64_t chunks = (count + each - 1) / each;
    struct slices slices = {comm, reduction, send, receive, count, each, node_steps(node, 2 * (uint64_t)chunks)};
    for (int64_t chunk = 0; chunk < chunks + 2; chunk++) {
        if (chunk < chunks)
            offer(&slices, chunk);
        if (chunk > 0 && chunk <= chunks)
            combine_slice(&slices, chunk - 1);
        if (chunk > 1)
            collect(&slices, chunk - 2);
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
