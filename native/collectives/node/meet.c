#include "meet.h"

#include <math.h>

#include "barrier.h"
#include "cells.h"

enum { MEETINGS = 8, ROUNDS = 4 };
static bool heeds_measured = true;

void meet_heed_measured(bool heed)
{
    heeds_measured = heed;
}

/* Of the first rank of the node and `other`, while the rest pass the steps; -1: of all ranks. */
static void meet_once(struct coll_comm *comm, int other)
{
    struct node *node = comm->node;
    if (other < 0) {
        node_barrier_flags(comm);
        return;
    }
    const uint64_t step = node_steps(node, 1);
    if (node->rank == 0 || node->rank == other) {
        line_room(comm, step);
        line_post(node, step);
        line_wait(comm, node->rank == 0 ? other : 0, step);
    }
    node_pass(node, step + 1);
}

/* Seconds: of several meetings behind one another, as in one alone a rank may come when the other has long been there; of some
 * rounds the quickest, which is what the machine can do. */
static double least(struct coll_comm *comm, int other)
{
    double found = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = PMPI_Wtime();
        for (int i = 0; i < MEETINGS; i++)
            meet_once(comm, other);
        found = fmin(found, (PMPI_Wtime() - start) / MEETINGS);
    }
    node_barrier_flags(comm);
    return found;
}

bool meet_measure(struct coll_comm *comm, const struct levels *levels, double *meet, double *more)
{
    const int ranks = comm->node->ranks;
    if (!heeds_measured || comm->crowded || ranks < 3)
        return false;
    const double all = least(comm, -1);
    double two = all / (ranks - 1); /* at the deepest depth so far at which there is another rank */
    for (int depth = 0; depth <= levels->count; depth++) {
        const int other = levels_mate(levels, ranks, depth);
        two = other > 0 ? least(comm, other) : two;
        meet[levels->meet[depth]] = two;
    }
    /* Where the clock does not tell them apart; no rank is free. */
    *more = fmax((all - meet[levels->meet[0]]) / (ranks - 2), all / 1000);
    return true;
}
