/* Which part of its node a process is bound to: a NUMA domain, or at least a socket, as Linux says under /sys. */
#ifndef UNISONO_NUMA_H
#define UNISONO_NUMA_H

#include <mpi.h>
#include <stdbool.h>

enum { NUMA_CPUS = 8192 };

/* CPUs by the kernel's numbers. */
struct cpus {
    unsigned long words[NUMA_CPUS / 8 / sizeof(unsigned long)];
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

/* The kernel's numbers; -1: not within one, or the system does not say. */
struct bound {
    int numa, socket;
};

/* Where these CPUs are by the tree under `root` ("" for this system's own): node*\/cpulist, physical_package_id. */
struct bound numa_bound(const char *root, const struct cpus *cpus);

/* What divides the ranks of a node. */
enum division { UNDIVIDED, BY_SOCKET, BY_NUMA };

/* Collective over the ranks of this machine. `node`: the world's lowest rank of the (perhaps pretended) node this rank
 * is said to be of. *first: the world's lowest rank of those that share this one's domain: its NUMA domain, where every
 * rank of the node is bound within one; else its socket, where that is so; else the node. MPI error codes.
 *
 * For tests: UNISONO_FAKE_NUMA divides the ranks of every node, as UNISONO_FAKE_NODES does those of the machine. */
int numa_start(MPI_Comm near, int node, int *first, enum division *division);

/* Of a text like "2", "2,1,3" or "%3" (topology.h): the lowest of the numbers that are together with this. */
int fake_first(const char *text, int number);

#endif
