/* The memory bandwidth there is at this moment, with the threads and processes of this run.
 *
 * Two bounds: a triad a = b + s c (McCalpin's STREAM; 24 bytes an element, although what a cache fetches before it is
 * overwritten makes them 32), and reading alone, which is what a solver does to 95 %. How reading asks ahead takes turns,
 * as with the solver's kernels: on some processors reading without a hint is slower than the solver. */
#ifndef UNISONO_SOLVER_BANDWIDTH_H
#define UNISONO_SOLVER_BANDWIDTH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels.h"

struct bandwidth {
    MPI_Comm comm;
    int threads;
    int64_t count;
    double *memory[3];
    enum hint hint; /* that reading was quickest with in bandwidth_best; none before */
};

/* Bytes a second of all processes together. 0: not measured. */
struct rates {
    double triad, read;
};

/* Arrays of `bytes` each in this process, touched by their threads. False, everywhere: no memory. Collective. */
bool bandwidth_create(struct bandwidth *bandwidth, MPI_Comm comm, int threads, double bytes);
void bandwidth_free(struct bandwidth *bandwidth);

/* One pass of each. Collective. */
struct rates bandwidth_pass(struct bandwidth *bandwidth);

/* The best of several passes, of reading with each hint. Collective. */
struct rates bandwidth_best(struct bandwidth *bandwidth);

#endif
