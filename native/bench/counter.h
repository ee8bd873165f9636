/* The processor's counter as a clock: reading it takes half as long as CLOCK_MONOTONIC, which is what short calls are
 * short of. Only where all ranks are on one machine whose kernel keeps its own time by that counter, so that it counts
 * evenly and alike on all processors. */
#ifndef UNISONO_COUNTER_H
#define UNISONO_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct counter {
    bool known, usable; /* the same on all ranks */
    double tick;        /* ns */
    int64_t first, first_ns;
};

/* Whether the kernel keeps its time by it. */
bool counter_is_clock(void);

/* The first readings. */
void counter_start(struct counter *counter);
/* How long a tick is, the better the later; waits until 20 ms have passed since the first readings. */
void counter_calibrate(struct counter *counter);

/* For waiting. */
static inline int64_t counter_now(void)
{
#if defined(__x86_64__)
    uint64_t low, high; /* by hand, as x86intrin.h takes longer to read than most files to compile */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (int64_t)(high << 32 | low);
#else
    return 0;
#endif
}

/* When all before it has been done: what was read has come. */
static inline int64_t counter_after(void)
{
#if defined(__x86_64__)
    uint64_t low, high, processor;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    return (int64_t)(high << 32 | low);
#else
    return 0;
#endif
}

#endif
