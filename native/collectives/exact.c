#include "exact.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Elements that are summed side by side, so that the compiler uses vectors: the widest of the processor that it runs on. */
enum { BLOCK = 64 };
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define CLONES
#endif

/* A fixed-point number: digit i counts 2^(32 i - 1074). A digit has room for 2^31 numbers before carries are due, which
 * is more than there are ranks. */
enum { LEAST_EXPONENT = -1074, DIGIT_BITS = 32, DIGITS = 68, FLOAT_BITS = 24, DOUBLE_BITS = 53, FLOAT_LEAST = -149 };

struct wide {
    int64_t digit[DIGITS];
    bool is_nan, positive, negative; /* a NaN, or infinities of that sign, are among the numbers */
};

static void wide_add(struct wide *wide, double number)
{
    int exponent;
    if (!isfinite(number)) {
        wide->is_nan = wide->is_nan || isnan(number);
        wide->positive = wide->positive || number > 0;
        wide->negative = wide->negative || number < 0;
        return;
    }
    double fraction = frexp(number, &exponent);
    if (fraction == 0)
        return;
    int64_t whole = (int64_t)ldexp(fraction, DOUBLE_BITS);
    int at = exponent - DOUBLE_BITS - LEAST_EXPONENT;
    if (at < 0) { /* a subnormal number, whose last bits are zeros */
        whole /= INT64_C(1) << -at;
        at = 0;
    }
    const uint64_t magnitude = (uint64_t)(whole < 0 ? -whole : whole);
    const int64_t sign = whole < 0 ? -1 : 1;
    const int first = at / DIGIT_BITS, shift = at % DIGIT_BITS;
    const uint64_t low = magnitude << shift, mask = UINT32_MAX;
    const uint64_t high = shift == 0 ? 0 : magnitude >> (64 - shift);
    wide->digit[first] += sign * (int64_t)(low & mask);
    wide->digit[first + 1] += sign * (int64_t)(low >> DIGIT_BITS);
    wide->digit[first + 2] += sign * (int64_t)high;
}

/* Digits of 32 bits, none negative. False: the sum is negative, and these are its magnitude's. */
static bool wide_carry(struct wide *wide)
{
    int64_t carry = 0;
    for (int i = 0; i < DIGITS; i++) {
        int64_t digit = wide->digit[i] + carry;
        wide->digit[i] = digit & UINT32_MAX;
        carry = (digit - wide->digit[i]) / (INT64_C(1) << DIGIT_BITS);
    }
    if (carry >= 0)
        return true;
    int64_t borrow = 1; /* the complement of two */
    for (int i = 0; i < DIGITS; i++) {
        int64_t digit = (~wide->digit[i] & UINT32_MAX) + borrow;
        wide->digit[i] = digit & UINT32_MAX;
        borrow = digit >> DIGIT_BITS;
    }
    return false;
}

static bool has_bit(const struct wide *wide, int bit)
{
    return wide->digit[bit / DIGIT_BITS] >> bit % DIGIT_BITS & 1;
}

static bool any_below(const struct wide *wide, int bit)
{
    for (int i = 0; i < bit / DIGIT_BITS; i++)
        if (wide->digit[i] != 0)
            return true;
    return (wide->digit[bit / DIGIT_BITS] & ((INT64_C(1) << bit % DIGIT_BITS) - 1)) != 0;
}

/* To the nearest number of so many bits, none of which counts less than 2^least; halfway between two to the even one. */
static double wide_round(struct wide *wide, int bits, int least)
{
    if (wide->is_nan || (wide->positive && wide->negative))
        return (double)NAN;
    if (wide->positive || wide->negative)
        return wide->positive ? HUGE_VAL : -HUGE_VAL;
    const double sign = wide_carry(wide) ? 1 : -1;
    int top = DIGITS * DIGIT_BITS - 1;
    while (top >= 0 && !has_bit(wide, top))
        top--;
    if (top < 0)
        return 0;
    int last = top - bits + 1 > least - LEAST_EXPONENT ? top - bits + 1 : least - LEAST_EXPONENT;
    int64_t whole = 0;
    for (int bit = top; bit >= last; bit--)
        whole = 2 * whole + has_bit(wide, bit);
    if (last > 0 && has_bit(wide, last - 1) && (any_below(wide, last - 1) || (whole & 1) != 0))
        whole++;
    return sign * ldexp((double)whole, last + LEAST_EXPONENT);
}

static double load_double(const void *vector, int64_t i)
{
    double number;
    memcpy(&number, (const char *)vector + i * (int64_t)sizeof number, sizeof number);
    return number;
}

static double load_float(const void *vector, int64_t i)
{
    float number;
    memcpy(&number, (const char *)vector + i * (int64_t)sizeof number, sizeof number);
    return number;
}

/* What was rounded off when `sum` was made of two numbers. */
static inline double lost(double left, double right, double sum)
{
    double part = sum - left;
    return (left - (sum - part)) + (right - part);
}

/* Sums of a block: sum[i] + rest[i] is exact unless inexact[i], or the result is not finite. */
struct sums {
    double sum[BLOCK], rest[BLOCK], next[BLOCK];
    double inexact[BLOCK];
};

CLONES static void sums_add(struct sums *sums, int count)
{
    for (int i = 0; i < count; i++) {
        double sum = sums->sum[i] + sums->next[i], error = lost(sums->sum[i], sums->next[i], sum);
        double rest = sums->rest[i] + error;
        sums->inexact[i] += fabs(lost(sums->rest[i], error, rest));
        sums->sum[i] = sum;
        sums->rest[i] = rest;
    }
}

/* Of two numbers the processor's own sum is the nearest there is. */
#define PAIRS(type)                                                                                                    \
    CLONES static void pairs_##type(const type *left, const type *right, type *made, int count)                        \
    {                                                                                                                  \
        for (int i = 0; i < count; i++) {                                                                              \
            type sum = left[i] + right[i] + 0; /* which makes -0 +0 */                                                 \
            made[i] = sum == sum ? sum : (type)NAN;                                                                    \
        }                                                                                                              \
    }
PAIRS(double)
PAIRS(float)

static inline bool is_exact(const struct sums *sums, int i)
{
    return sums->inexact[i] == 0 && isfinite(sums->sum[i]) && isfinite(sums->rest[i]);
}

/* To the nearest float, in one step: a double whose last bit says that something was rounded off decides as the exact sum
 * would, since it has more than two bits more (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", 2008). */
static float to_float(double sum, double rest)
{
    double nearest = sum + rest, off = lost(sum, rest, nearest);
    uint64_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if (off != 0 && (bits & 1) == 0)
        bits = (off > 0) == (nearest > 0) ? bits + 1 : bits - 1;
    memcpy(&nearest, &bits, sizeof bits);
    return (float)nearest;
}

/* Elements from `done` on; their number rounded up to whole vectors, with zeros. */
static int take(void *block, const void *vector, int64_t done, int now, size_t element)
{
    const int lanes = 8, count = (now + lanes - 1) / lanes * lanes;
    memcpy(block, (const char *)vector + done * (int64_t)element, (size_t)now * element);
    memset((char *)block + (size_t)now * element, 0, (size_t)(count - now) * element);
    return count;
}

static void sum_doubles(const void *const *of, int vectors, int64_t done, int now, double *made)
{
    struct sums sums;
    memset(&sums, 0, sizeof sums);
    for (int vector = 0; vector < vectors; vector++) {
        int count = take(sums.next, of[vector], done, now, sizeof *made);
        sums_add(&sums, count);
    }
    for (int i = 0; i < now; i++) {
        made[i] = sums.sum[i] + sums.rest[i];
        if (is_exact(&sums, i) && isfinite(made[i]))
            continue;
        struct wide wide = {.is_nan = false};
        for (int vector = 0; vector < vectors; vector++)
            wide_add(&wide, load_double(of[vector], done + i));
        made[i] = wide_round(&wide, DOUBLE_BITS, LEAST_EXPONENT);
    }
}

static void sum_floats(const void *const *of, int vectors, int64_t done, int now, float *made)
{
    struct sums sums;
    memset(&sums, 0, sizeof sums);
    for (int vector = 0; vector < vectors; vector++) {
        int count = take(made, of[vector], done, now, sizeof *made);
        for (int i = 0; i < count; i++)
            sums.next[i] = made[i];
        sums_add(&sums, count);
    }
    for (int i = 0; i < now; i++) {
        if (is_exact(&sums, i)) {
            made[i] = to_float(sums.sum[i], sums.rest[i]);
            continue;
        }
        struct wide wide = {.is_nan = false};
        for (int vector = 0; vector < vectors; vector++)
            wide_add(&wide, load_float(of[vector], done + i));
        made[i] = (float)wide_round(&wide, FLOAT_BITS, FLOAT_LEAST);
    }
}

#define EXACT_SUM(type)                                                                                                \
    void exact_sum_##type(const void *const *of, int vectors, void *result, int64_t count)                             \
    {                                                                                                                  \
        for (int64_t done = 0; done < count; done += BLOCK) {                                                          \
            int now = count - done < BLOCK ? (int)(count - done) : BLOCK;                                              \
            type made[BLOCK], left[BLOCK], right[BLOCK];                                                               \
            if (vectors == 2) {                                                                                        \
                take(left, of[0], done, now, sizeof *left);                                                            \
                pairs_##type(left, right, made, take(right, of[1], done, now, sizeof *right));                         \
            } else {                                                                                                   \
                sum_##type##s(of, vectors, done, now, made);                                                           \
            }                                                                                                          \
            memcpy((char *)result + done * (int64_t)sizeof *made, made, (size_t)now * sizeof *made);                   \
        }                                                                                                              \
    }
EXACT_SUM(double)
EXACT_SUM(float)
