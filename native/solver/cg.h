/* Conjugate gradients, preconditioned by symmetric Gauss-Seidel within each process (Nakajima 2009, section 2).
 *
 * M = (D + L) D^-1 (D + U) with D, L, U of the matrix itself: no factorisation, and external values are ignored, so
 * the preconditioner does not communicate. Sums are taken in the order of threads and then by MPI_Allreduce: the
 * same from run to run. */
#ifndef UNISONO_SOLVER_CG_H
#define UNISONO_SOLVER_CG_H

#include <mpi.h>
#include <stdbool.h>

#include "bandwidth.h"
#include "halo.h"
#include "kernels.h"
#include "matrix.h"
#include "order.h"

struct system {
    const struct mesh *mesh;
    const struct order *order;
    const struct matrix *matrix;
    const struct kernels *kernels;
    struct halo *halo;
    MPI_Comm comm;
    struct bandwidth *beside; /* measured before the first and after every so many iterations; NULL: not */
    int every;
};

/* A block of iterations between two measurements of the bandwidth. */
struct block {
    int iterations;
    double seconds;
    struct rates before, after;
};

/* Seconds of this process. */
struct times {
    double total, product, forward, backward, dots, vectors, allreduce;
    int sweeps;         /* of one thread so far */
    double quickest[2]; /* of those that were tried: colour by colour, in waves */
};

enum cg_end { CG_CONVERGED, CG_LIMIT, CG_BROKEN, CG_NO_MEMORY };

struct outcome {
    enum cg_end end;
    int iterations;
    double residual;     /* |r| / |b| */
    double quickest;     /* seconds of the quickest iteration; 0: there was none */
    int blocks;          /* 0: the bandwidth was not measured beside the iterations */
    struct block *block; /* to be freed */
    struct times times;
};

/* Vectors with 3 values a node, external nodes included, each placed by the thread that will use it (or by the first
 * thread, without `first_touch`); zeros. NULL: no memory. */
double *vector_create(const struct system *system, bool first_touch);

/* Solves A x = load from x = 0; `history` gets the relative residual after each iteration, `limit` values.
 * Measuring the bandwidth is not counted in any time. Collective. */
struct outcome cg_solve(const struct system *system, const double *load, double *x, double tolerance, int limit,
                        bool first_touch, double *history);

/* product = A vector, halo included. Collective. */
void system_product(const struct system *system, double *vector, double *product);

/* z = M^-1 r. */
void system_precondition(const struct system *system, const double *r, double *z);

#endif
