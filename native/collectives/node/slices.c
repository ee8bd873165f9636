#include "slices.h"

#include "cells.h"
#include "combine.h"
#include "copy.h"
#include "node.h"

/* Of chunk c, everybody posts in step first + 2c what the others are to combine, and in the next one its slice of the
 * chunk, combined. A chunk is a part of each slice; they lie one after the other in a cell. */
struct work {
    struct coll_comm *comm;
    const struct slices *slices;
    int64_t element, part; /* bytes of one, elements of a slice in one chunk */
    int64_t chunk;         /* bytes: a part for each rank */
    uint64_t first;
    bool streaming; /* the result is longer than what a cache holds */
    bool copied;    /* a slice is combined where it is received, and copied into a cell */
};

static int64_t slice_begin(const struct work *work, int local)
{
    const struct slices *slices = work->slices;
    return slices->at ? slices->at[local] : slice_at(slices->count, work->comm->node->ranks, local);
}

/* Elements of a slice before this chunk. */
static int64_t before(const struct work *work, int64_t chunk)
{
    return chunk * work->part;
}

/* Elements of a rank's slice in this chunk. */
static int64_t within(const struct work *work, int local, int64_t chunk)
{
    int64_t left = slice_begin(work, local + 1) - slice_begin(work, local) - before(work, chunk);
    return left < 0 ? 0 : left < work->part ? left : work->part;
}

static int64_t chunks(const struct work *work)
{
    int64_t longest = 0;
    for (int local = 0; local < work->comm->node->ranks; local++) {
        int64_t length = slice_begin(work, local + 1) - slice_begin(work, local);
        longest = length > longest ? length : longest;
    }
    return (longest + work->part - 1) / work->part;
}

/* Bytes from the vector's begin to the part of a rank's slice that is in this chunk. */
static int64_t place(const struct work *work, int local, int64_t chunk)
{
    return (slice_begin(work, local) + before(work, chunk)) * work->element;
}

static uint64_t offered(const struct work *work, int64_t chunk)
{
    return work->first + 2 * (uint64_t)chunk;
}

static void offer(const struct work *work, int64_t chunk)
{
    struct node *node = work->comm->node;
    uint64_t step = offered(work, chunk);
    cell_room(work->comm, step);
    for (int local = 0; local < node->ranks; local++)
        if (local != node->rank)
            cell_write(cell_piece_of(node, node->rank, step, work->chunk) + local * work->part * work->element,
                       (const char *)work->slices->send + place(work, local, chunk),
                       within(work, local, chunk) * work->element, node->way);
    line_post(node, step);
}

static void combine_own(const struct work *work, int64_t chunk)
{
    struct node *node = work->comm->node;
    uint64_t step = offered(work, chunk);
    int64_t count = within(work, node->rank, chunk);
    const void *own = (const char *)work->slices->send + place(work, node->rank, chunk);
    cell_room(work->comm, step + 1);
    unsigned char *cell = cell_piece_of(node, node->rank, step + 1, work->chunk);
    void *result = work->copied ? (char *)work->slices->receive + place(work, node->rank, chunk) : (void *)cell;
    const struct posted posted = {.step = step, .piece = work->chunk, .at = node->rank * work->part * work->element};
    combine_posted(work->comm, &posted, own, result, count, work->slices->reduction);
    if (work->copied)
        cell_write(cell, result, count * work->element, node->way);
    line_post(node, step + 1);
}

static void collect(const struct work *work, int64_t chunk)
{
    struct node *node = work->comm->node;
    const struct slices *slices = work->slices;
    uint64_t step = offered(work, chunk) + 1;
    for (int i = work->copied; i < node->ranks; i++) {
        int local = (node->rank + i) % node->ranks;
        if (slices->which == SLICES_OWN ? i > 0 : slices->which == SLICES_ROOT && node->rank != slices->root)
            continue;
        int64_t at = slices->which == SLICES_OWN ? before(work, chunk) * work->element : place(work, local, chunk);
        if (i > 0)
            line_wait(work->comm, local, step);
        cell_read((char *)slices->receive + at, cell_piece_of(node, local, step, work->chunk),
                  within(work, local, chunk) * work->element, i > 0 ? node->way : CELLS_SOON, work->streaming);
    }
    node_pass(node, step + 1);
}

/* Bytes of a chunk. Where ranks share CPUs each costs the time until all have had theirs. (Two CPUs, Zen 5, cells instead of CELL_PIECE:
   allreduces of 256 KiB and 1 MiB among 4 ranks take 0.75 to 0.85 times as long, among 8 0.6 to 0.9 times.) */
static int64_t chunk_bytes(const struct node *node, int64_t segment)
{
    if (segment == 0 || segment == CELL_PIECE)
        segment = node->crowded ? node->cell_bytes : CELL_PIECE;
    return segment < node->cell_bytes ? segment : node->cell_bytes;
}

int node_slices(struct coll_comm *comm, const struct slices *slices)
{
    struct node *node = comm->node;
    struct work work = {comm, slices, slices->reduction->element, .part = 0};
    int64_t bytes = chunk_bytes(node, slices->segment);
    int64_t line = 64 / work.element > 0 ? 64 / work.element : 1;
    work.part = bytes / work.element / node->ranks;
    work.part = work.part > line ? work.part / line * line : work.part > 0 ? work.part : 1;
    work.chunk = work.part * work.element * node->ranks;
    int64_t all = chunks(&work);
    work.first = node_steps(node, 2 * (uint64_t)all);
    int64_t result = (slice_begin(&work, node->ranks) - slice_begin(&work, 0)) * work.element;
    cells_begin(node, result);
    /* A rank does not read what it has stored past the caches, nor a cell that the other rank owns as it reads. In place, sums of the
       ranks before would overwrite what this one still has to add. */
    work.copied = (node->way == CELLS_PAST || node->way == CELLS_OWNED) && slices->which == SLICES_ALL &&
                  (slices->send != slices->receive || node->rank < 2);
    work.streaming = 2 * result >= copy_streams_from(node->ranks);
    /* A chunk ahead in each of the three, so that what one waits for was posted long ago. */
    for (int64_t chunk = 0; chunk < all + 2; chunk++) {
        if (chunk < all)
            offer(&work, chunk);
        if (chunk > 0 && chunk <= all)
            combine_own(&work, chunk - 1);
        if (chunk > 1)
            collect(&work, chunk - 2);
    }
    return wait_outcome(comm);
}

bool node_slices_fit(struct coll_comm *comm, int64_t element)
{
    return cells_ready(comm) && element * comm->node->ranks <= comm->node->cell_bytes;
}
