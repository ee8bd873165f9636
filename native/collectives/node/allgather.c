#include "allgather.h"

#include <string.h>

#include "cells.h"
#include "copy.h"
#include "exchange.h"
#include "messages.h"
#include "node.h"
#include "trade.h"

/* The blocks are no longer than LINE_ROOM. */
static void by_lines(struct coll_comm *comm, const void *send, char *receive, const struct flow *blocks)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    size_t bytes = (size_t)flow_bytes(blocks, node->rank);
    char *own = receive + flow_at(blocks, node->rank);
    line_room(comm, step);
    memcpy(line_of(node, node->rank, step)->payload, send, bytes);
    line_post(node, step);
    if (own != send)
        memcpy(own, send, bytes);
    for (int i = 1; i < node->ranks; i++) {
        int from = node->rank + i < node->ranks ? node->rank + i : node->rank + i - node->ranks;
        const struct line *line = line_wait(comm, from, step);
        memcpy(receive + flow_at(blocks, from), line->payload, (size_t)flow_bytes(blocks, from));
    }
    node_know(node, step);
    node_pass(node, step + 1);
    line_prepare(node);
}

int node_allgather_inline(struct coll_comm *comm, const void *send, void *receive, int64_t each)
{
    const struct flow blocks = {-1, each, NULL, NULL};
    by_lines(comm, send, receive, &blocks);
    return wait_outcome(comm);
}

/* Posts the piece of this rank's block that begins at `offset`, and puts it into its own place. */
static void post_piece(struct coll_comm *comm, uint64_t step, const char *send, char *own, int64_t offset,
                       int64_t bytes, int64_t place, bool streaming)
{
    struct node *node = comm->node;
    int64_t piece = bytes - offset < node->cell_bytes ? bytes - offset : node->cell_bytes;
    if (piece <= 0)
        return;
    line_room(comm, step);
    if (bytes <= LINE_ROOM)
        memcpy(line_of(node, node->rank, step)->payload, send, (size_t)bytes);
    else {
        cell_room(comm, step);
        cell_write(cell_piece_of(node, node->rank, step, place), send + offset, piece, node->way);
    }
    line_post(node, step);
    if (own != send)
        copy_piece(own + offset, send + offset, piece, streaming);
}

static void read_piece(struct coll_comm *comm, uint64_t step, int from, char *to, int64_t offset, int64_t bytes,
                       int64_t place, bool streaming)
{
    struct node *node = comm->node;
    int64_t piece = bytes - offset < node->cell_bytes ? bytes - offset : node->cell_bytes;
    if (piece <= 0)
        return;
    const struct line *line = line_wait(comm, from, step);
    if (bytes <= LINE_ROOM)
        memcpy(to, line->payload, (size_t)bytes);
    else
        cell_read(to + offset, cell_piece_of(node, from, step, place), piece, node->way, streaming);
}

int node_allgather_cells(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                         const int64_t *at)
{
    struct node *node = comm->node;
    const struct flow blocks = {-1, each, bytes, at};
    char *to = receive;
    int64_t longest = 0, all = flow_bytes(&blocks, node->rank);
    if (!cells_ready(comm))
        return messages_allgather(comm, send, receive, each, bytes, at);
    for (int local = 0; local < node->ranks; local++) {
        int64_t block = flow_bytes(&blocks, local);
        longest = block > longest ? block : longest;
        all += block;
    }
    if (longest <= LINE_ROOM) {
        by_lines(comm, send, receive, &blocks);
        return wait_outcome(comm);
    }
    bool streaming = all >= copy_streams_from(node->ranks);
    const int64_t mine = flow_bytes(&blocks, node->rank), cell = node->cell_bytes;
    char *own = to + flow_at(&blocks, node->rank);
    if (node_trades(node, longest)) {
        const int other = 1 - node->rank;
        const struct trade trade = {.send = send,
                                    .out = mine,
                                    .receive = to + flow_at(&blocks, other),
                                    .in = flow_bytes(&blocks, other),
                                    .own = send,
                                    .own_to = own,
                                    .own_bytes = mine,
                                    .streaming = streaming};
        return node_trade(comm, &trade);
    }
    const int64_t place = cell_piece_for(node, longest);
    cells_begin(node, longest);
    uint64_t step = node_steps(node, (uint64_t)((longest + cell - 1) / cell));
    /* A piece ahead, so that what one waits for was posted while the one before was copied. */
    post_piece(comm, step, send, own, 0, mine, place, streaming);
    for (int64_t offset = 0; offset < longest; offset += cell, step++) {
        if (offset + cell < longest)
            post_piece(comm, step + 1, send, own, offset + cell, mine, place, streaming);
        for (int i = 1; i < node->ranks; i++) {
            int from = node->rank + i < node->ranks ? node->rank + i : node->rank + i - node->ranks;
            if (offset + cell < longest)
                line_expect(node, from, step + 1);
            read_piece(comm, step, from, to + flow_at(&blocks, from), offset, flow_bytes(&blocks, from), place,
                       streaming);
        }
        node_pass(node, step + 1);
    }
    cell_prepare(node, mine, place);
    return wait_outcome(comm);
}

int node_allgather_pull(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                        const int64_t *at)
{
    struct node *node = comm->node;
    const struct flow blocks = {-1, each, bytes, at};
    const uint64_t step = node_steps(node, 2), address = pull_address(send);
    int error = MPI_SUCCESS;
    char *to = receive, *own = to + flow_at(&blocks, node->rank);
    line_room(comm, step);
    memcpy(line_of(node, node->rank, step)->payload, &address, sizeof address);
    line_post(node, step);
    if (own != send)
        copy_piece(own, send, flow_bytes(&blocks, node->rank), false);
    for (int i = 1; i < node->ranks; i++) {
        int from = (node->rank + i) % node->ranks;
        uint64_t theirs;
        memcpy(&theirs, line_wait(comm, from, step)->payload, sizeof theirs);
        int failed = pull_read(&node->pull, from, theirs, to + flow_at(&blocks, from), flow_bytes(&blocks, from));
        error = error ? error : failed;
    }
    node_know(node, step);
    node_pass(node, step + 1);
    /* Nobody leaves before all have what is to be read in its memory. */
    line_room(comm, step + 1);
    line_post(node, step + 1);
    for (int i = 1; i < node->ranks; i++)
        line_wait(comm, (node->rank + i) % node->ranks, step + 1);
    node_know(node, step + 1);
    node_pass(node, step + 2);
    return error ? error : wait_outcome(comm);
}

int node_allgather(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                   const int64_t *at)
{
    if (bytes == NULL && each <= LINE_ROOM && comm->node->shared)
        return node_allgather_inline(comm, send, receive, each);
    return node_allgather_cells(comm, send, receive, each, bytes, at);
}
