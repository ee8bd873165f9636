#include "node.h"

#include <stdlib.h>

#include "allreduce.h"
#include "barrier.h"
#include "bcast.h"
#include "cells.h"
#include "crowd.h"
#include "messages.h"
#include "pairs.h"
#include "../peers.h"
#include "reduce.h"
#include "../reserve.h"

void node_alone(struct coll_comm *comm)
{
    struct node *node = comm->node = reserve_get(sizeof *node);
    node->rank = comm->topology.local;
    node->ranks = comm->topology.locals;
    node->crowded = crowd();
}

void node_create(struct coll_comm *comm, struct peers *peers, int slot)
{
    node_alone(comm);
    struct node *node = comm->node;
    node->cell_bytes = cell_bytes_for(node->ranks);
    node->first = peers_lines(peers, slot);
    node->shared = node->ranks > 1 && node->first.base != NULL;
    comm->fabric.hears = node->shared && comm->topology.nodes == 1;
    node->cells = &peers->cells;
    node->step = peers->slots[slot].step;
    node->known = peers->slots[slot].known;
    node->pull = (struct pull){.works = node->shared && pull_possible(),
                               .local = node->rank,
                               .failure = peers->failure,
                               .process = peers->process};
}

void node_free(struct coll_comm *comm)
{
    pairs_free(comm->node);
    reserve_put(comm->node);
    comm->node = NULL;
}

bool node_shares(const struct node *node)
{
    return node->shared;
}

bool node_has_cells(const struct node *node)
{
    return node->shared && node->cells->made != CELLS_NONE;
}

bool node_has_queues(const struct node *node)
{
    return node->shared && !node->pairs_refused;
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
    struct cells *cells = node->cells;
    if (node->second.base != NULL)
        return true;
    if (cells->made == CELLS_UNTRIED) {
        bool made = node->shared && segment_create(&cells->segment, comm, cells_arrange(cells, node->ranks));
        cells->made = made ? CELLS_MADE : CELLS_NONE;
    }
    if (cells->made == CELLS_MADE) {
        node->second = (struct segment){.base = cells->segment.base, .each = cells->segment.each};
        node->cell_stride = cells->stride;
    } else {
        comm->is_short = true;
        comm->fabric.hears = node->shared; /* else nothing was refused, and there is no memory in which to hear */
    }
    return cells->made == CELLS_MADE;
}

void cells_take(struct coll_comm *comm)
{
    struct node *node = comm->node;
    struct cells *cells = node->cells;
    for (int i = 1; i < node->ranks && cells->writer.base != NULL; i++) {
        char *other = segment_of(&cells->writer, (node->rank + i) % node->ranks);
        wait_for(comm, &((struct shared_rank *)(void *)other)->passed.count, cells->step + 1);
    }
    cells->writer = node->first;
}

int node_barrier(struct coll_comm *comm)
{
    return comm->node->shared ? node_barrier_flags(comm) : messages_barrier(comm);
}
