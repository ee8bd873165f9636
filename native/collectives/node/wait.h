/* Waiting for another rank's counter: spin, let the library move what it still has to, give the CPU away. */
#ifndef UNISONO_NODE_WAIT_H
#define UNISONO_NODE_WAIT_H

#include <stdatomic.h>

#include "../collectives.h"
#include "../failure.h"

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Fetches a cache line that will be written, without waiting for it. Not __builtin_prefetch: for most targets that
 * fetches for reading, and it is taking the line from the readers that takes long. */
static inline void cpu_prepare_write(const void *memory)
{
#if defined(__x86_64__)
    __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)memory));
#else
    __builtin_prefetch(memory, 1);
#endif
}

/* The rest of wait_for, once it is known that one has to wait. */
void wait_longer(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value);

/* Until the counter has reached the value: what its writer wrote before can be read then. Once another rank has failed it
 * does not wait any more. */
static inline void wait_for(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value)
{
    if (atomic_load_explicit(counter, memory_order_acquire) < value)
        wait_longer(comm, counter, value);
}

/* MPI_SUCCESS, or the error for which it has not waited until now: what was read since then is nothing. */
static inline int wait_outcome(const struct coll_comm *comm)
{
    return comm->fabric.failure != NULL ? comm->fabric.failure->error : MPI_SUCCESS;
}

/* Spins for about as long as it takes to change processes, and no longer: though ranks share CPUs, this is the quicker way
 * where the writer is most likely writing right now. wait_for() goes on where it has not been enough. */
static inline void wait_briefly(const _Atomic uint64_t *counter, uint64_t value)
{
    const int spins = 64;
    for (int turn = 0; turn < spins && atomic_load_explicit(counter, memory_order_acquire) < value; turn++)
        cpu_pause();
}

/* One turn of waiting for something else; *turn counts from 0. False: it will not come, as another rank has failed
 * (failure.h). */
bool wait_turn(struct coll_comm *comm, unsigned *turn);

#endif
