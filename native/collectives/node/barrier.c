#include "barrier.h"

#include "cells.h"

int node_barrier_flags(struct coll_comm *comm)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    line_room(comm, step);
    line_post(node, step);
    for (int i = 1; i < node->ranks; i++)
        line_wait(comm, (node->rank + i) % node->ranks, step);
    node_know(node, step);
    node_pass(node, step + 1);
    line_prepare(node);
    return wait_outcome(comm);
}
