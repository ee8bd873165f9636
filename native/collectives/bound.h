/* Which parts of its node a process is bound to: what Linux says under /sys of sockets, NUMA domains and caches. */
#ifndef UNISONO_BOUND_H
#define UNISONO_BOUND_H

#include <stdbool.h>

enum { BOUND_CPUS = 8192 };

/* CPUs by the kernel's numbers. */
struct cpus {
    unsigned long words[BOUND_CPUS / 8 / sizeof(unsigned long)];
};

static inline bool cpus_have(const struct cpus *cpus, int cpu)
{
    const int bits = 8 * (int)sizeof *cpus->words;
    return cpus->words[cpu / bits] >> cpu % bits & 1;
}

static inline void cpus_add(struct cpus *cpus, int cpu)
{
    const int bits = 8 * (int)sizeof *cpus->words;
    cpus->words[cpu / bits] |= 1UL << cpu % bits;
}

/* BY_CACHE: CPUs that have the cache of the highest level in common; BY_INNER_CACHE: that of the level below, where it is
 * not the first one, which is a core's. Threads of a core have both; so have pairs of cores on some processors. */
enum division { BY_SOCKET, BY_NUMA, BY_CACHE, BY_INNER_CACHE, DIVISIONS };

/* Numbers of the parts that hold all these CPUs: the kernel's, of a cache its lowest CPU's; -1: within none, or the
 * system does not say. */
struct bound {
    int in[DIVISIONS];
};

/* By the tree under `root` ("" for this system's own): node*\/cpulist, physical_package_id, cache/index*. */
struct bound bound_within(const char *root, const struct cpus *cpus);

/* This process, as it is bound now. */
struct bound bound_now(void);

/* For tests, of a text like "2", "2,1,3" or "%3" (topology.h): the lowest of the numbers that are together with this. */
int fake_first(const char *text, int number);

#endif
