#include "bcast.h"

#include <string.h>

#include "cells.h"
#include "messages.h"
#include "node.h"

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
    return MPI_SUCCESS;
}

int node_bcast_cells(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    struct node *node = comm->node;
    if (!cells_ready(comm))
        return messages_bcast(comm, root, data, bytes);
    int64_t pieces = (bytes + node->cell_bytes - 1) / node->cell_bytes;
    uint64_t step = node_steps(node, (uint64_t)pieces);
    char *at = data;
    for (; bytes > 0; bytes -= node->cell_bytes, at += node->cell_bytes, step++) {
        size_t piece = (size_t)(bytes < node->cell_bytes ? bytes : node->cell_bytes);
        if (node->rank == root) {
            cell_room(comm, step);
            memcpy(cell_of(node, root, step), at, piece);
            line_post(node, step);
        } else {
            line_wait(comm, root, step);
            memcpy(at, cell_of(node, root, step), piece);
        }
        node_pass(node, step + 1);
    }
    if (node->rank == root)
        cell_prepare(node, at - (char *)data);
    return MPI_SUCCESS;
}

int node_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    if (!comm->node->shared)
        return messages_bcast(comm, root, data, bytes);
    if (bytes <= LINE_ROOM)
        return node_bcast_inline(comm, root, data, bytes);
    return node_bcast_cells(comm, root, data, bytes);
}
