/* Waiting for another rank's flag: spin, then let the MPI library progress, then give the CPU away. */
#ifndef UNISONO_WAIT_H
#define UNISONO_WAIT_H

#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

struct wait {
    MPI_Comm comm;       /* private; probing it makes the library progress what it still has to send */
    bool oversubscribed; /* more ranks than CPUs: spinning would keep the awaited one from running */
    bool idle;           /* between commands: sleep rather than burn */
};

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* One step of waiting; `turns` counts them from 0. A collective may return with messages still to be sent by the
   library; the rank awaited may need them, so a long wait has to progress or it would never end. */
static inline void wait_step(const struct wait *wait, unsigned turns)
{
    const unsigned spins = wait->oversubscribed ? 64 : 4096;
    const unsigned sleeps = 8192, long_sleeps = 10240;
    if (turns < spins) {
        cpu_pause();
        return;
    }
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, wait->comm, &found, MPI_STATUS_IGNORE);
    sched_yield(); /* costs nothing where nobody else wants this CPU */
    if (wait->idle && turns > sleeps)
        clock_sleep(turns > long_sleeps ? 1000000 : 50000);
}

static inline void wait_flag(const struct wait *wait, const _Atomic uint64_t *flag, uint64_t value)
{
    for (unsigned turns = 0; atomic_load_explicit(flag, memory_order_acquire) < value; turns += turns < 1u << 30)
        wait_step(wait, turns);
}

static inline void wait_request(const struct wait *wait, MPI_Request *request)
{
    int done = 0;
    for (unsigned turns = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;
         turns += turns < 1u << 30)
        wait_step(wait, turns);
}

#endif
