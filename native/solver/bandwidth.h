/* The memory bandwidth there is at this moment, with the threads and processes of this run. */
#ifndef UNISONO_SOLVER_BANDWIDTH_H
#define UNISONO_SOLVER_BANDWIDTH_H

#include <mpi.h>

/* Bytes a second of all processes together, of a triad a = b + s c (24 bytes an element) over arrays of `bytes` each in
 * this process; the best of several. 0: no memory. Collective. */
double bandwidth_triad(MPI_Comm comm, int threads, double bytes);

#endif
