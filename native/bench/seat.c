#include "seat.h"

#include <string.h>

/* Where the kernel refuses, everything stays as it was. */
void seat_begin(struct seat *seat, bool shared)
{
    seat->shared = shared && sched_getaffinity(0, sizeof seat->before, &seat->before) == 0;
    if (!seat->shared)
        return;
    memset(&seat->all, 0xff, sizeof seat->all);
    seat->shared = sched_setaffinity(0, sizeof seat->all, &seat->all) == 0 &&
                   sched_getaffinity(0, sizeof seat->all, &seat->all) == 0;
}

void seat_take(const struct seat *seat, int place)
{
    if (!seat->shared)
        return;
    int left = place % CPU_COUNT(&seat->all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &seat->all) || left-- > 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

void seat_leave(const struct seat *seat)
{
    if (seat->shared)
        sched_setaffinity(0, sizeof seat->all, &seat->all);
}

void seat_end(const struct seat *seat)
{
    if (seat->shared)
        sched_setaffinity(0, sizeof seat->before, &seat->before);
}
