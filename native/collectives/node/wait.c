#include "wait.h"

#include <sched.h>

#include "cells.h"
#include "handed.h"

/* Turns of spinning. Whoever waits this long is not much later for letting others run. From EARLY on a rank lets the MPI library move what
 * it has, once in PROGRESS turns, or in OFTEN where each turn gives the CPU away: others may wait for that, with one-sided communication for
 * one. Most waits are shorter. */
enum { SPINS = 4096, CROWDED_SPINS = 4, EARLY = 256, PROGRESS = 64, OFTEN = 8, LAST = 1 << 30 };
_Static_assert(LAST % PROGRESS == 0, "the last turns are counted over and over");

bool wait_turn(struct coll_comm *comm, unsigned *turn)
{
    unsigned spins = comm->node->crowded ? CROWDED_SPINS : SPINS, now = *turn;
    if (failure_known(comm->fabric.failure))
        return false;
    *turn = now + 1 < LAST ? now + 1 : LAST - PROGRESS;
    if (now >= spins || now % PROGRESS == PROGRESS - 1)
        handed_serve(comm->fabric.failure);
    /* The awaited rank may be waiting for a message that the library here has not finished sending; or wait no more. */
    const unsigned rarely = now >= EARLY && now >= spins ? OFTEN : PROGRESS;
    if (now % rarely == rarely - 1 && (now >= EARLY || now >= spins))
        fabric_progress(&comm->fabric);
    if (now < spins) {
        cpu_pause();
        return true;
    }
    if (now % PROGRESS == PROGRESS - 1)
        failure_look(comm->fabric.failure, now / PROGRESS == spins / PROGRESS);
    sched_yield();
    return true;
}

void wait_longer(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value)
{
    unsigned turn = 0;
    while (atomic_load_explicit(counter, memory_order_acquire) < value && wait_turn(comm, &turn))
        ;
}
