#include "bcast.h"

#include <string.h>

#include "cells.h"
#include "messages.h"
#include "node.h"

static const int64_t page = 4096;

int node_bcast_inline(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    if (node->rank == root) {
        line_room(comm, step);
        memcpy(line_of(node, root, step)->payload, data, (size_t)bytes);
        line_post(node, step);
    } else
        memcpy(data, line_wait(comm, root, step)->payload, (size_t)bytes);
    node_pass(node, step + 1);
    line_prepare(node);
    return wait_outcome(comm);
}

/* Where ranks share CPUs: no more pieces than a root has cells, which it writes without waiting for anybody. (Xeon, family 6
 * model 85, two CPUs, instead of as long as a cell: on four ranks 64 and 128 KiB take 0.8 times as long and 256 KiB 0.9 times, on
 * eight 64 KiB 0.9 times.) */
static int64_t crowded_piece(int64_t bytes)
{
    const int64_t least = 2 * page, piece = (bytes / CELLS + page - 1) / page * page;
    return piece > least ? piece : least;
}

/* Bytes of one step. Short pieces let the others begin early; each costs the time of a flag, or of giving a CPU away. */
static int64_t piece_bytes(const struct node *node, int64_t bytes, int64_t segment)
{
    int64_t piece = segment;
    if (segment == 0 || segment == BCAST_SEGMENT)
        piece = node->crowded ? crowded_piece(bytes) : bytes <= 2 * BCAST_SEGMENT ? BCAST_SEGMENT / 2 : BCAST_SEGMENT;
    return piece < node->cell_bytes ? piece : node->cell_bytes;
}

/* How far apart pieces lie (cell_piece_of): one of a short message no further than it is long, and a line, or it would not
 * matter that they do. (Two ranks, Zen 5: with what is prepared, 2 KiB take 0.8 times as long.) */
static int64_t piece_place(const struct node *node, int64_t bytes, int64_t most)
{
    const int64_t line = 64;
    int64_t place = (bytes + 2 * line - 1) / line * line;
    place = place < most ? place : most;
    return place < node->cell_bytes ? place : node->cell_bytes;
}

int node_bcast_cells(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment)
{
    struct node *node = comm->node;
    if (!cells_ready(comm))
        return messages_bcast(comm, root, data, bytes);
    int64_t most = piece_bytes(node, bytes, segment), place = piece_place(node, bytes, most), all = bytes;
    uint64_t step = node_steps(node, (uint64_t)((bytes + most - 1) / most));
    char *at = data;
    cells_begin(node, bytes);
    for (; bytes > 0; bytes -= most, at += most, step++) {
        size_t piece = (size_t)(bytes < most ? bytes : most);
        if (node->rank == root) {
            cell_room(comm, step);
            cell_write(cell_piece_of(node, root, step, place), at, (int64_t)piece, node->way);
            line_post(node, step);
        } else {
            if (node->crowded) /* (Four ranks on two CPUs: 16 to 32 KiB take 0.92 times as long, 64 KiB 0.97 times.) */
                wait_briefly(&line_of(node, root, step)->count, step + 1);
            line_wait(comm, root, step);
            cell_read(at, cell_piece_of(node, root, step, place), (int64_t)piece, node->way, false);
        }
        node_pass(node, step + 1);
    }
    if (node->rank == root)
        cell_prepare(node, all, place);
    return wait_outcome(comm);
}

/* Where the posted data of a rank is in its own memory. */
static uint64_t *address_in(const struct node *node, int local, uint64_t step)
{
    return (uint64_t *)(void *)line_of(node, local, step)->payload;
}

/* The root writes the last part of everybody's while they read what is before, so that all copy alike. */
static int write_rest(struct coll_comm *comm, uint64_t step, const char *data, int64_t read, int64_t bytes)
{
    struct node *node = comm->node;
    int error = MPI_SUCCESS;
    for (int i = 1; i < node->ranks; i++) {
        int local = (node->rank + i) % node->ranks;
        line_wait(comm, local, step);
        uint64_t to = *address_in(node, local, step) + (uint64_t)read;
        int failed = pull_write(&node->pull, local, to, data + read, bytes - read);
        error = failed ? failed : error;
    }
    return error;
}

int node_bcast_pull(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    struct node *node = comm->node;
    if (!node->pull.works)
        return node_bcast_cells(comm, root, data, bytes, 0);
    uint64_t step = node_steps(node, 2);
    int64_t read = bytes / node->ranks * (node->ranks - 1) / page * page;
    int error;
    line_room(comm, step + 1);
    *address_in(node, node->rank, step) = pull_address(data);
    line_post(node, step);
    if (node->rank == root)
        error = write_rest(comm, step, data, read, bytes);
    else {
        line_wait(comm, root, step);
        error = pull_read(&node->pull, root, *address_in(node, root, step), data, read);
    }
    line_post(node, step + 1); /* done with the others' memory */
    for (int local = 0; local < node->ranks; local++)
        if (node->rank == root || local == root)
            line_wait(comm, local, step + 1);
    node_pass(node, step + 2);
    return error ? error : wait_outcome(comm);
}

int node_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    if (!comm->node->shared)
        return messages_bcast(comm, root, data, bytes);
    if (bytes <= LINE_ROOM)
        return node_bcast_inline(comm, root, data, bytes);
    return node_bcast_cells(comm, root, data, bytes, 0);
}
