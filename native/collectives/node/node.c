#include "node.h"

#include <stdlib.h>

#include "allreduce.h"
#include "barrier.h"
#include "bcast.h"
#include "cells.h"
#include "crowd.h"
#include "messages.h"
#include "pairs.h"
#include "reduce.h"

int node_create(struct coll_comm *comm)
{
    struct node *node = comm->node = calloc(1, sizeof *node);
    if (node == NULL)
        return MPI_ERR_NO_MEM;
    node->rank = comm->topology.local;
    node->ranks = comm->topology.locals;
    node->crowded = crowd();
    node->cell_bytes = cell_bytes_for(node->ranks);
    node->shared = node->ranks > 1 && segment_create(&node->first, comm, sizeof(struct shared_rank));
    pull_create(&node->pull, comm, node->shared || node->ranks == 1);
    return MPI_SUCCESS;
}

void node_free(struct coll_comm *comm)
{
    pairs_free(comm->node);
    pull_free(&comm->node->pull);
    segment_free(&comm->node->first);
    segment_free(&comm->node->second);
    free(comm->node);
    comm->node = NULL;
}

bool node_shares(const struct node *node)
{
    return node->shared;
}

bool node_pulls(const struct node *node)
{
    return node->pull.works;
}

void node_await_passed(struct coll_comm *comm, uint64_t step)
{
    struct node *node = comm->node;
    uint64_t least = UINT64_MAX;
    for (int i = 1; i < node->ranks; i++) {
        const struct line *passed = &shared_rank(node, (node->rank + i) % node->ranks)->passed;
        wait_for(comm, &passed->count, step);
        uint64_t count = atomic_load_explicit(&passed->count, memory_order_acquire);
        least = count < least ? count : least;
    }
    node->known = least;
}

bool cells_ready(struct coll_comm *comm)
{
    struct node *node = comm->node;
    if (node->cells == CELLS_UNTRIED) {
        bool made = node->shared && segment_create(&node->second, comm, node->cell_bytes * CELLS);
        node->cells = made ? CELLS_MADE : CELLS_NONE;
    }
    return node->cells == CELLS_MADE;
}

int node_barrier(struct coll_comm *comm)
{
    return comm->node->shared ? node_barrier_flags(comm) : messages_barrier(comm);
}
