/* Rows of 3x3 blocks times a vector: portable, AVX2 and AVX-512, each with several ways to ask for memory ahead. */
#ifndef UNISONO_SOLVER_KERNELS_H
#define UNISONO_SOLVER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix.h"

/* AVX2 and AVX-512 give the same bits, sum by sum; portable, without fused multiplications, rounds otherwise. */
enum form { FORM_PORTABLE, FORM_AVX2, FORM_AVX512, FORMS };
extern const char *const form_names[FORMS];

/* How the matrix is asked for ahead of its use: not at all; as what is used once, so that the cache keeps the vector;
 * into the first cache; into the second. No bit of a result depends on it. */
enum hint { HINT_NONE, HINT_NTA, HINT_T0, HINT_T1, HINTS };
extern const char *const hint_names[HINTS];

/* Asks for the cache line `bytes` behind what is used now. `hint` is a constant wherever this is inlined. */
static inline void fetch_ahead(const void *used, int bytes, enum hint hint)
{
    const char *at = (const char *)used + bytes;
    switch (hint) {
    case HINT_NTA: __builtin_prefetch(at, 0, 0); break;
    case HINT_T0: __builtin_prefetch(at, 0, 3); break;
    case HINT_T1: __builtin_prefetch(at, 0, 2); break;
    case HINT_NONE:
    case HINTS: break;
    }
}

/* product[from..to) = (D + L + U + outer) x */
typedef void product_kernel(const struct matrix *matrix, const double *x, double *product, int32_t from, int32_t to,
                            int ahead);
/* z = D^-1 (r - L z), rows of one colour */
typedef void forward_kernel(const struct matrix *matrix, const double *r, double *z, int32_t from, int32_t to,
                            int ahead);
/* z = z - D^-1 U z, rows of one colour */
typedef void backward_kernel(const struct matrix *matrix, double *z, int32_t from, int32_t to, int ahead);

/* Every row is computed alike whatever the thread; vectors have room for one more double at the end. */
struct kernels {
    enum form form;
    enum hint hint;
    int ahead; /* bytes of values that are on their way while others are used; 0 without a hint */
    product_kernel *product;
    forward_kernel *forward;
    backward_kernel *backward;
};

/* Whether the processor can run them. */
bool kernels_available(enum form form);

/* Of an available form. */
struct kernels kernels_get(enum form form, enum hint hint, int ahead);

#endif
