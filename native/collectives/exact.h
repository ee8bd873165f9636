/* Sums of floating-point numbers that are rounded once: the number nearest to the sum of all, in whatever order they
 * come. So the result depends on the numbers alone, not on who adds which first.
 *
 * A sum of two doubles that keeps what is rounded off (Knuth, The Art of Computer Programming 2, 4.2.2), twice, has the
 * exact result in nearly all cases; what remains goes through an accumulator as wide as all doubles (Kulisch), after
 * Neal, "Fast exact summation using small and large superaccumulators" (2015). A sum that is zero is +0. Where a NaN, or
 * infinities of both signs, are among the numbers, it is the same quiet NaN always. */
#ifndef UNISONO_COLL_EXACT_H
#define UNISONO_COLL_EXACT_H

#include <stdint.h>

/* result[i] = of[0][i] + ... + of[vectors - 1][i]. `result` may be any of them; none need be aligned. */
void exact_sum_double(const void *const *of, int vectors, void *result, int64_t count);
void exact_sum_float(const void *const *of, int vectors, void *result, int64_t count);

#endif
