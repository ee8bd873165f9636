#include "kernels.h"

#include <string.h>

/* Bytes of values that are on their way from memory while others are used. The processor's own prefetching does not
 * get over from one page and one part of a row to the next in time (one core of an EPYC 9005: 23.9 GB/s without,
 * 28.1 with). */
enum { AHEAD = 2304 };

static inline void fetch_ahead(const double *value)
{
    __builtin_prefetch((const char *)value + AHEAD);
}

/* The three forms differ in `row_blocks` alone: the sum over a row's blocks of block * x, added to sum[3]. */

static inline void times(const double block[BLOCK], const double *x, double *sum)
{
    for (int i = 0; i < 3; i++)
        sum[i] += block[3 * i] * x[0] + block[3 * i + 1] * x[1] + block[3 * i + 2] * x[2];
}

static inline void portable_blocks(const struct part *part, int32_t row, const double *x, double sum[3])
{
    for (int64_t k = part->start[row]; k < part->start[row + 1]; k++) {
        fetch_ahead(part->value + BLOCK * k);
        times(part->value + BLOCK * k, x + 3 * (int64_t)part->column[k], sum);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Nine values of a block are 4 + 4 + 1, with x as (0 1 2 0), (1 2 0 1), (2). */
__attribute__((target("avx2,fma"))) static inline void avx2_blocks(const struct part *part, int32_t row,
                                                                   const double *x, double sum[3])
{
    __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
    double last = 0;
    for (int64_t k = part->start[row], end = part->start[row + 1]; k < end; k++) {
        const double *block = part->value + BLOCK * k, *at = x + 3 * (int64_t)part->column[k];
        fetch_ahead(block);
        __m256d v = _mm256_loadu_pd(at);
        low = _mm256_fmadd_pd(_mm256_loadu_pd(block), _mm256_permute4x64_pd(v, 0x24), low);
        high = _mm256_fmadd_pd(_mm256_loadu_pd(block + 4), _mm256_permute4x64_pd(v, 0x49), high);
        last += block[8] * at[2];
    }
    double l[4], h[4];
    _mm256_storeu_pd(l, low);
    _mm256_storeu_pd(h, high);
    sum[0] += l[0] + l[1] + l[2];
    sum[1] += l[3] + h[0] + h[1];
    sum[2] += h[2] + h[3] + last;
}

/* Eight values at once, with x as (0 1 2 0 1 2 0 1), and the ninth. Two blocks at a time, so that additions overlap. */
__attribute__((target("avx512f,avx2,fma"))) static inline void avx512_blocks(const struct part *part, int32_t row,
                                                                             const double *x, double sum[3])
{
    const __m512i spread = _mm512_setr_epi64(0, 1, 2, 0, 1, 2, 0, 1);
    __m512d even = _mm512_setzero_pd(), odd = _mm512_setzero_pd();
    double last_even = 0, last_odd = 0;
    int64_t k = part->start[row];
    const int64_t end = part->start[row + 1];
    for (; k + 1 < end; k += 2) {
        const double *block = part->value + BLOCK * k;
        const double *a = x + 3 * (int64_t)part->column[k], *b = x + 3 * (int64_t)part->column[k + 1];
        fetch_ahead(block), fetch_ahead(block + 8), fetch_ahead(block + 16); /* 18 values: two lines and a quarter */
        __m512d va = _mm512_permutexvar_pd(spread, _mm512_castpd256_pd512(_mm256_loadu_pd(a)));
        __m512d vb = _mm512_permutexvar_pd(spread, _mm512_castpd256_pd512(_mm256_loadu_pd(b)));
        even = _mm512_fmadd_pd(_mm512_loadu_pd(block), va, even);
        odd = _mm512_fmadd_pd(_mm512_loadu_pd(block + BLOCK), vb, odd);
        last_even += block[8] * a[2];
        last_odd += block[BLOCK + 8] * b[2];
    }
    if (k < end) {
        const double *block = part->value + BLOCK * k, *a = x + 3 * (int64_t)part->column[k];
        __m512d va = _mm512_permutexvar_pd(spread, _mm512_castpd256_pd512(_mm256_loadu_pd(a)));
        even = _mm512_fmadd_pd(_mm512_loadu_pd(block), va, even);
        last_even += block[8] * a[2];
    }
    double all[8];
    _mm512_storeu_pd(all, _mm512_add_pd(even, odd));
    sum[0] += all[0] + all[1] + all[2];
    sum[1] += all[3] + all[4] + all[5];
    sum[2] += all[6] + all[7] + last_even + last_odd;
}
#endif

#define KERNELS(kind, attributes)                                                                                      \
    attributes static void kind##_product(const struct matrix *matrix, const double *x, double *product, int32_t from, \
                                          int32_t to)                                                                  \
    {                                                                                                                  \
        for (int32_t i = from; i < to; i++) {                                                                          \
            double sum[3] = {0, 0, 0};                                                                                 \
            times(matrix->diagonal + (int64_t)BLOCK * i, x + 3 * (int64_t)i, sum);                                     \
            kind##_blocks(&matrix->lower, i, x, sum);                                                                  \
            kind##_blocks(&matrix->upper, i, x, sum);                                                                  \
            kind##_blocks(&matrix->outer, i, x, sum);                                                                  \
            memcpy(product + 3 * (int64_t)i, sum, sizeof sum);                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    attributes static void kind##_forward(const struct matrix *matrix, const double *r, double *z, int32_t from,       \
                                          int32_t to)                                                                  \
    {                                                                                                                  \
        for (int32_t i = from; i < to; i++) {                                                                          \
            double sum[3] = {0, 0, 0}, rest[3];                                                                        \
            kind##_blocks(&matrix->lower, i, z, sum);                                                                  \
            for (int k = 0; k < 3; k++)                                                                                \
                rest[k] = r[3 * (int64_t)i + k] - sum[k], sum[k] = 0;                                                  \
            times(matrix->inverse + (int64_t)BLOCK * i, rest, sum);                                                    \
            memcpy(z + 3 * (int64_t)i, sum, sizeof sum);                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    attributes static void kind##_backward(const struct matrix *matrix, double *z, int32_t from, int32_t to)           \
    {                                                                                                                  \
        for (int32_t i = from; i < to; i++) {                                                                          \
            double sum[3] = {0, 0, 0}, change[3] = {0, 0, 0};                                                          \
            kind##_blocks(&matrix->upper, i, z, sum);                                                                  \
            times(matrix->inverse + (int64_t)BLOCK * i, sum, change);                                                  \
            for (int k = 0; k < 3; k++)                                                                                \
                z[3 * (int64_t)i + k] -= change[k];                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static const struct kernels kind = {#kind, kind##_product, kind##_forward, kind##_backward};

KERNELS(portable, )
#if defined(__x86_64__)
KERNELS(avx2, __attribute__((target("avx2,fma"))))
KERNELS(avx512, __attribute__((target("avx512f,avx2,fma"))))
#endif

const struct kernels *kernels_find(const char *name)
{
    bool any = strcmp(name, "auto") == 0;
#if defined(__x86_64__)
    if ((any || strcmp(name, "avx512") == 0) && __builtin_cpu_supports("avx512f"))
        return &avx512;
    if ((any || strcmp(name, "avx2") == 0) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    return any || strcmp(name, "portable") == 0 ? &portable : NULL;
}
