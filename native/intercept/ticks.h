/* Time in ticks of the processor's counter where that counts evenly, whatever the clock frequency and sleep state;
 * else in nanoseconds of CLOCK_MONOTONIC. How long a tick is becomes known as the run goes on. */
#ifndef UNISONO_TICKS_H
#define UNISONO_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern bool ticks_even;

static inline uint64_t ticks_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t ticks_now(void)
{
#if defined(__x86_64__)
    if (ticks_even) {
        uint64_t low, high; /* by hand: x86intrin.h, which has it, takes longer to read than most files to compile */
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        return high << 32 | low;
    }
#endif
    return ticks_clock_ns();
}

/* Ticks between two readings; none if the second was taken on a processor whose counter is behind. */
static inline uint64_t ticks_between(uint64_t start, uint64_t end)
{
    return end > start ? end - start : 0;
}

/* Once, at MPI_Init. */
void ticks_start(void);

/* Count from now on. */
void ticks_restart(void);

/* What CLOCK_MONOTONIC said at a tick since then, given what ticks_elapsed_ns has said. */
uint64_t ticks_to_ns(uint64_t tick, double ns_per_tick);

/* Nanoseconds since then, and nanoseconds a tick as of that time. Async-signal-safe. */
uint64_t ticks_elapsed_ns(double *ns_per_tick);

#endif
