/* Which CPUs a rank may use, and lists of CPUs as Linux writes them. */
#ifndef UNISONO_CPUS_H
#define UNISONO_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUS_MAX = 8192, CPUS_WORDS = CPUS_MAX / 64 };

struct cpus {
    uint64_t words[CPUS_WORDS];
};

static inline bool cpus_has(const struct cpus *cpus, int cpu)
{
    return cpus->words[cpu / 64] >> cpu % 64 & 1;
}

static inline void cpus_add(struct cpus *cpus, int cpu)
{
    cpus->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

int cpus_count(const struct cpus *cpus);
bool cpus_within(const struct cpus *inner, const struct cpus *outer);

/* "0-3,8" as sysfs writes it; false when it is something else. */
bool cpus_parse(const char *list, struct cpus *cpus);

/* The affinity mask of this process; CPU 0 alone if the system does not tell. */
void cpus_of_process(struct cpus *cpus);

/* The NUMA nodes, as a set of their numbers, that any of these CPUs belongs to; node 0 if the system does not tell. */
void cpus_numa_nodes(const struct cpus *cpus, struct cpus *nodes);

/* The last-level cache of a CPU and the CPUs that share it; 32 MiB for all when the system does not tell. */
int64_t cpus_last_cache(int cpu, struct cpus *sharing);

/* True when `count` masks cannot give every rank a CPU of its own: more ranks than CPUs in all or in one mask. */
bool cpus_oversubscribed(const struct cpus *masks, int count);

#endif
