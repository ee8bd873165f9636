/* Rows of 3x3 blocks times a vector: portable, AVX2 and AVX-512, chosen at run time. */
#ifndef UNISONO_SOLVER_KERNELS_H
#define UNISONO_SOLVER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix.h"

/* Every row is computed alike whatever the thread; vectors have room for one more double at the end. */
struct kernels {
    const char *name;
    /* product[from..to) = (D + L + U + outer) x */
    void (*product)(const struct matrix *matrix, const double *x, double *product, int32_t from, int32_t to);
    /* z = D^-1 (r - L z), rows of one colour */
    void (*forward)(const struct matrix *matrix, const double *r, double *z, int32_t from, int32_t to);
    /* z = z - D^-1 U z, rows of one colour */
    void (*backward)(const struct matrix *matrix, double *z, int32_t from, int32_t to);
};

/* "auto": AVX2 where the processor has it: of a block AVX-512 saves one multiplication of three and needs a permutation
 * instead, and was never the faster for certain (EPYC 9005: alike from the cache and from memory). NULL: the
 * processor has not what is asked for. */
const struct kernels *kernels_find(const char *name);

#endif
