#include "wait.h"

#include <sched.h>

#include "cells.h"

/* Turns of spinning. Whoever waits this long is not much later for letting others run. */
enum { SPINS = 4096, CROWDED_SPINS = 4, PROGRESS = 64 };

void wait_turn(struct coll_comm *comm, unsigned turn)
{
    unsigned spins = comm->node->crowded ? CROWDED_SPINS : SPINS;
    if (turn < spins) {
        cpu_pause();
        return;
    }
    /* The awaited rank may be waiting for a message that the library here has not finished sending. */
    if (turn % PROGRESS == PROGRESS - 1)
        fabric_progress(&comm->fabric);
    sched_yield();
}

void wait_longer(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value)
{
    for (unsigned turn = 0; atomic_load_explicit(counter, memory_order_acquire) < value; turn += turn < 1u << 30)
        wait_turn(comm, turn);
}
