#include "kernels.h"

#include <string.h>

enum { COLUMNS_AHEAD = 512 }; /* bytes: as far ahead in the columns as 9 KB are in the values */

const char *const form_names[FORMS] = {"portable", "avx2", "avx512"};
const char *const hint_names[HINTS] = {"none", "nta", "t0", "t1"};

/* Each form has a sum of three values that blocks times vectors are added to, and what is done with it in the end. */

#define PORTABLE __attribute__((always_inline)) static inline

struct portable_sum {
    double value[3];
};

static inline void portable_block(const double *block, const double *x, struct portable_sum *sum)
{
    for (int i = 0; i < 3; i++)
        sum->value[i] += block[3 * i] * x[0] + block[3 * i + 1] * x[1] + block[3 * i + 2] * x[2];
}

PORTABLE void portable_blocks(const struct part *part, int32_t row, const double *x, struct portable_sum *sum,
                              enum hint hint, int ahead)
{
    fetch_ahead(part->column + part->start[row], COLUMNS_AHEAD, hint);
    for (int64_t k = part->start[row]; k < part->start[row + 1]; k++) {
        fetch_ahead(part->value + BLOCK * k, ahead, hint);
        portable_block(part->value + BLOCK * k, x + 3 * (int64_t)part->column[k], sum);
    }
}

static inline void portable_put(const struct portable_sum *sum, double *product)
{
    memcpy(product, sum->value, sizeof sum->value);
}

static inline void portable_forward_row(const double *columns, const double *r, const struct portable_sum *sum,
                                        double *z)
{
    double rest[3];
    for (int i = 0; i < 3; i++)
        rest[i] = r[i] - sum->value[i];
    for (int i = 0; i < 3; i++)
        z[i] = columns[i] * rest[0] + columns[3 + i] * rest[1] + columns[6 + i] * rest[2];
}

static inline void portable_backward_row(const double *columns, const struct portable_sum *sum, double *z)
{
    for (int i = 0; i < 3; i++)
        z[i] -= columns[i] * sum->value[0] + columns[3 + i] * sum->value[1] + columns[6 + i] * sum->value[2];
}

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma"), always_inline)) static inline
#define AVX512 __attribute__((target("avx512f,avx2,fma"), always_inline)) static inline

/* A row of a block is loaded with the number after it, so is x: lane 3 is never looked at. Two sums of each row, so that
 * additions overlap. */
struct avx2_sum {
    __m256d even[3], odd[3];
};

AVX2 void avx2_into(const double *block, const double *x, __m256d sum[3])
{
    const __m256d v = _mm256_loadu_pd(x);
    for (int i = 0; i < 3; i++)
        sum[i] = _mm256_fmadd_pd(_mm256_loadu_pd(block + 3 * i), v, sum[i]);
}

AVX2 void avx2_block(const double *block, const double *x, struct avx2_sum *sum)
{
    avx2_into(block, x, sum->even);
}

AVX2 void avx2_blocks(const struct part *part, int32_t row, const double *x, struct avx2_sum *sum, enum hint hint,
                      int ahead)
{
    int64_t left = part->start[row + 1] - part->start[row];
    const double *block = part->value + BLOCK * part->start[row];
    const int32_t *column = part->column + part->start[row];
    fetch_ahead(column, COLUMNS_AHEAD, hint);
    for (; left > 1; left -= 2, block += 2 * BLOCK, column += 2) { /* 18 values: two lines and a quarter */
        fetch_ahead(block, ahead, hint), fetch_ahead(block + 8, ahead, hint), fetch_ahead(block + 16, ahead, hint);
        avx2_into(block, x + 3 * (int64_t)column[0], sum->even);
        avx2_into(block + BLOCK, x + 3 * (int64_t)column[1], sum->odd);
    }
    if (left > 0) {
        fetch_ahead(block, ahead, hint);
        avx2_into(block, x + 3 * (int64_t)column[0], sum->even);
    }
}

/* The three values, and something. */
AVX2 __m256d avx2_total(const struct avx2_sum *sum)
{
    const __m256d a = _mm256_add_pd(sum->even[0], sum->odd[0]), b = _mm256_add_pd(sum->even[1], sum->odd[1]);
    const __m256d c = _mm256_add_pd(sum->even[2], sum->odd[2]);
    const __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b); /* a0 b0 a2 b2 */
    const __m256d c_even = _mm256_unpacklo_pd(c, c), c_odd = _mm256_unpackhi_pd(c, c);   /* c0 c0 c2 c2 */
    const __m256d first = _mm256_permute2f128_pd(ab_even, c_even, 0x20);                 /* a0 b0 c0 c0 */
    const __m256d second = _mm256_permute2f128_pd(ab_odd, c_odd, 0x20);                  /* a1 b1 c1 c1 */
    return _mm256_add_pd(_mm256_add_pd(first, second), _mm256_permute2f128_pd(ab_even, c_even, 0x31));
}

AVX2 void avx2_store(__m256d values, double *at)
{
    _mm_storeu_pd(at, _mm256_castpd256_pd128(values));
    _mm_store_sd(at + 2, _mm256_extractf128_pd(values, 1));
}

AVX2 __m256d avx2_times(const double *columns, __m256d v)
{
    __m256d result = _mm256_mul_pd(_mm256_loadu_pd(columns), _mm256_permute4x64_pd(v, 0x00));
    result = _mm256_fmadd_pd(_mm256_loadu_pd(columns + 3), _mm256_permute4x64_pd(v, 0x55), result);
    return _mm256_fmadd_pd(_mm256_loadu_pd(columns + 6), _mm256_permute4x64_pd(v, 0xaa), result);
}

AVX2 void avx2_put(const struct avx2_sum *sum, double *product)
{
    avx2_store(avx2_total(sum), product);
}

AVX2 void avx2_forward_row(const double *columns, const double *r, const struct avx2_sum *sum, double *z)
{
    avx2_store(avx2_times(columns, _mm256_sub_pd(_mm256_loadu_pd(r), avx2_total(sum))), z);
}

AVX2 void avx2_backward_row(const double *columns, const struct avx2_sum *sum, double *z)
{
    avx2_store(_mm256_sub_pd(_mm256_loadu_pd(z), avx2_times(columns, avx2_total(sum))), z);
}

/* Eight values of a block at once, with x as (0 1 2 0 1 2 0 1), and the ninth. */
struct avx512_sum {
    __m512d even, odd;
    __m128d last_even, last_odd;
};

AVX512 void avx512_into(const double *block, const double *x, __m512d *sum, __m128d *last)
{
    const __m512i spread = _mm512_setr_epi64(0, 1, 2, 0, 1, 2, 0, 1);
    const __m512d v = _mm512_permutexvar_pd(spread, _mm512_castpd256_pd512(_mm256_loadu_pd(x)));
    *sum = _mm512_fmadd_pd(_mm512_loadu_pd(block), v, *sum);
    *last = _mm_fmadd_sd(_mm_load_sd(block + 8), _mm_load_sd(x + 2), *last);
}

AVX512 void avx512_block(const double *block, const double *x, struct avx512_sum *sum)
{
    avx512_into(block, x, &sum->even, &sum->last_even);
}

AVX512 void avx512_blocks(const struct part *part, int32_t row, const double *x, struct avx512_sum *sum, enum hint hint,
                          int ahead)
{
    int64_t left = part->start[row + 1] - part->start[row];
    const double *block = part->value + BLOCK * part->start[row];
    const int32_t *column = part->column + part->start[row];
    fetch_ahead(column, COLUMNS_AHEAD, hint);
    for (; left > 1; left -= 2, block += 2 * BLOCK, column += 2) {
        fetch_ahead(block, ahead, hint), fetch_ahead(block + 8, ahead, hint), fetch_ahead(block + 16, ahead, hint);
        avx512_into(block, x + 3 * (int64_t)column[0], &sum->even, &sum->last_even);
        avx512_into(block + BLOCK, x + 3 * (int64_t)column[1], &sum->odd, &sum->last_odd);
    }
    if (left > 0) {
        fetch_ahead(block, ahead, hint);
        avx512_into(block, x + 3 * (int64_t)column[0], &sum->even, &sum->last_even);
    }
}

AVX512 __m256d avx512_total(const struct avx512_sum *sum)
{
    const __m512d all = _mm512_add_pd(sum->even, sum->odd);
    const __m512d last = _mm512_castpd128_pd512(_mm_add_sd(sum->last_even, sum->last_odd));
    const __m512i firsts = _mm512_setr_epi64(0, 3, 6, 6, 0, 0, 0, 0),
                  seconds = _mm512_setr_epi64(1, 4, 7, 7, 0, 0, 0, 0);
    const __m512i thirds = _mm512_setr_epi64(2, 5, 8, 8, 0, 0, 0, 0); /* 8: the first of `last` */
    const __m512d two = _mm512_add_pd(_mm512_permutexvar_pd(firsts, all), _mm512_permutexvar_pd(seconds, all));
    return _mm512_castpd512_pd256(_mm512_add_pd(two, _mm512_permutex2var_pd(all, thirds, last)));
}

AVX512 void avx512_put(const struct avx512_sum *sum, double *product)
{
    avx2_store(avx512_total(sum), product);
}

AVX512 void avx512_forward_row(const double *columns, const double *r, const struct avx512_sum *sum, double *z)
{
    avx2_store(avx2_times(columns, _mm256_sub_pd(_mm256_loadu_pd(r), avx512_total(sum))), z);
}

AVX512 void avx512_backward_row(const double *columns, const struct avx512_sum *sum, double *z)
{
    avx2_store(_mm256_sub_pd(_mm256_loadu_pd(z), avx2_times(columns, avx512_total(sum))), z);
}
#endif

#define KERNELS(kind, name, hint, attributes)                                                                          \
    attributes static void kind##_##name##_product(const struct matrix *matrix, const double *x, double *product,      \
                                                   int32_t from, int32_t to, int ahead)                                \
    {                                                                                                                  \
        (void)ahead; /* not used without a hint */                                                                     \
        for (int32_t i = from; i < to; i++) {                                                                          \
            struct kind##_sum sum;                                                                                     \
            memset(&sum, 0, sizeof sum);                                                                               \
            kind##_block(matrix->diagonal + (int64_t)BLOCK * i, x + 3 * (int64_t)i, &sum);                             \
            kind##_blocks(&matrix->lower, i, x, &sum, hint, ahead);                                                    \
            kind##_blocks(&matrix->upper, i, x, &sum, hint, ahead);                                                    \
            if (matrix->blocks_outside > 0)                                                                            \
                kind##_blocks(&matrix->outer, i, x, &sum, hint, ahead);                                                \
            kind##_put(&sum, product + 3 * (int64_t)i);                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    attributes static void kind##_##name##_forward(const struct matrix *matrix, const double *r, double *z,            \
                                                   int32_t from, int32_t to, int ahead)                                \
    {                                                                                                                  \
        (void)ahead;                                                                                                   \
        for (int32_t i = from; i < to; i++) {                                                                          \
            struct kind##_sum sum;                                                                                     \
            memset(&sum, 0, sizeof sum);                                                                               \
            kind##_blocks(&matrix->lower, i, z, &sum, hint, ahead);                                                    \
            kind##_forward_row(matrix->inverse + (int64_t)BLOCK * i, r + 3 * (int64_t)i, &sum, z + 3 * (int64_t)i);    \
        }                                                                                                              \
    }                                                                                                                  \
    attributes static void kind##_##name##_backward(const struct matrix *matrix, double *z, int32_t from, int32_t to,  \
                                                    int ahead)                                                         \
    {                                                                                                                  \
        (void)ahead;                                                                                                   \
        for (int32_t i = from; i < to; i++) {                                                                          \
            struct kind##_sum sum;                                                                                     \
            memset(&sum, 0, sizeof sum);                                                                               \
            kind##_blocks(&matrix->upper, i, z, &sum, hint, ahead);                                                    \
            kind##_backward_row(matrix->inverse + (int64_t)BLOCK * i, &sum, z + 3 * (int64_t)i);                       \
        }                                                                                                              \
    }
#define ALL_HINTS(kind, attributes)                                                                                    \
    KERNELS(kind, none, HINT_NONE, attributes)                                                                         \
    KERNELS(kind, nta, HINT_NTA, attributes)                                                                           \
    KERNELS(kind, t0, HINT_T0, attributes)                                                                             \
    KERNELS(kind, t1, HINT_T1, attributes)
#define ROW(kind, name, hint) [hint] = {kind##_##name##_product, kind##_##name##_forward, kind##_##name##_backward}
#define ROWS(kind)                                                                                                     \
    {ROW(kind, none, HINT_NONE), ROW(kind, nta, HINT_NTA), ROW(kind, t0, HINT_T0), ROW(kind, t1, HINT_T1)}

ALL_HINTS(portable, )
#if defined(__x86_64__)
ALL_HINTS(avx2, __attribute__((target("avx2,fma"))))
ALL_HINTS(avx512, __attribute__((target("avx512f,avx2,fma"))))
#endif

static const struct {
    product_kernel *product;
    forward_kernel *forward;
    backward_kernel *backward;
} table[FORMS][HINTS] = {
    [FORM_PORTABLE] = ROWS(portable),
#if defined(__x86_64__)
    [FORM_AVX2] = ROWS(avx2),
    [FORM_AVX512] = ROWS(avx512),
#endif
};

bool kernels_available(enum form form)
{
#if defined(__x86_64__)
    if (form == FORM_AVX2 || form == FORM_AVX512)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               (form == FORM_AVX2 || __builtin_cpu_supports("avx512f"));
#endif
    return form == FORM_PORTABLE;
}

struct kernels kernels_get(enum form form, enum hint hint, int ahead)
{
    return (struct kernels){form,
                            hint,
                            hint == HINT_NONE ? 0 : ahead,
                            table[form][hint].product,
                            table[form][hint].forward,
                            table[form][hint].backward};
}
