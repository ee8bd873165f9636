/* The clock everything is timed with: CLOCK_MONOTONIC, nanoseconds, common to all processes of one operating system. */
#ifndef UNISONO_CLOCK_H
#define UNISONO_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void clock_sleep(int64_t nanoseconds)
{
    struct timespec pause = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    nanosleep(&pause, NULL);
}

/* Which clock this process reads: equal for two processes only when their times can be compared directly, that is the
   same boot of the same kernel and the same time namespace. */
uint64_t clock_identity(void);

/* Which running kernel this is, whatever namespaces there are: the same for "nodes" that share one machine's CPUs. */
uint64_t clock_machine(void);

#endif
