/* Sums that are rounded once: against whole numbers of 128 bits, in any order, and where doubles end. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "exact.h"

enum { VECTORS = 40, COUNT = 200, ROUNDS = 200 };

static uint64_t state = 88172645463325252u;

static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A whole number of at most `bits` bits, a double (or float) exactly, times 2^(0 .. 60). */
static __int128 whole(int bits)
{
    __int128 value = (__int128)(int64_t)(drawn() >> (64 - bits));
    value <<= drawn() % 60;
    return drawn() % 2 ? -value : value;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void sums_are_those_of_whole_numbers(void)
{
    static double doubles[VECTORS][COUNT], made[COUNT];
    static float floats[VECTORS][COUNT], short_made[COUNT];
    const void *of[VECTORS], *short_of[VECTORS];
    for (int round = 0; round < ROUNDS; round++) {
        int vectors = 1 + (int)(drawn() % VECTORS), count = (int)(drawn() % (COUNT + 1));
        __int128 sum[COUNT] = {0}, short_sum[COUNT] = {0};
        for (int v = 0; v < vectors; v++) {
            of[v] = doubles[v];
            short_of[v] = floats[v];
            for (int i = 0; i < count; i++) {
                __int128 value = whole(53), other = whole(24);
                if (v > 0 && drawn() % 4 == 0) /* what cancels */
                    value = -(__int128)doubles[v - 1][i], other = -(__int128)floats[v - 1][i];
                doubles[v][i] = (double)value;
                floats[v][i] = (float)other;
                sum[i] += value;
                short_sum[i] += other;
            }
        }
        exact_sum_double(of, vectors, made, count);
        exact_sum_float(short_of, vectors, short_made, count);
        for (int i = 0; i < count; i++) {
            CHECK(made[i] == (double)sum[i]);
            CHECK(short_made[i] == (float)short_sum[i]);
        }
    }
}

/* The sum of these, in every rotation, forwards and backwards, to double and, where `narrow`, to float. */
static void always(const double *numbers, int count, double expected, int narrow)
{
    for (int first = 0; first < 2 * count; first++) {
        const void *of[16];
        float narrowed[16], narrow_sum;
        double sum;
        for (int i = 0; i < count; i++) {
            int at = first < count ? (first + i) % count : (2 * first - i) % count;
            narrowed[i] = (float)numbers[at];
            of[i] = &numbers[at];
        }
        exact_sum_double(of, count, &sum, 1);
        CHECK(bits_of(sum) == bits_of(expected) || (isnan(sum) && isnan(expected)));
        for (int i = 0; i < count; i++)
            of[i] = &narrowed[i];
        exact_sum_float(of, count, &narrow_sum, 1);
        CHECK(!narrow || narrow_sum == (float)expected || (isnan(narrow_sum) && isnan(expected)));
    }
}

static void the_ends_of_doubles(void)
{
    const double most = DBL_MAX, least = DBL_TRUE_MIN, half = DBL_EPSILON / 2;
    always((double[]){most, most, -most, 1}, 4, most, 0);
    always((double[]){most, most, most, -most, -most, least}, 6, most, 0);
    always((double[]){most, most}, 2, HUGE_VAL, 0);
    always((double[]){-most, -most, 5}, 3, -HUGE_VAL, 0);
    always((double[]){most, -most, least}, 3, least, 0);
    always((double[]){least, least, -DBL_MIN, DBL_MIN}, 4, 2 * least, 0);
    always((double[]){DBL_MIN, -least}, 2, DBL_MIN - least, 0);
    always((double[]){1, half, least}, 3, 1 + DBL_EPSILON, 0); /* just more than halfway */
    always((double[]){1, half, -least}, 3, 1, 0);              /* just less */
    always((double[]){1, half}, 2, 1, 0);                      /* to the even one */
    always((double[]){1, DBL_EPSILON, half}, 3, 1 + 2 * DBL_EPSILON, 0);
    always((double[]){1, 1e100, 1, -1e100}, 4, 2, 0);
    always((double[]){1e16, 1, 1e-16, -1e16}, 4, 1, 0);
    always((double[]){3, -3, 0.0, -0.0}, 4, 0.0, 1);
    always((double[]){-0.0, -0.0}, 2, 0.0, 1);
    always((double[]){HUGE_VAL, 1, most}, 3, HUGE_VAL, 1);
    always((double[]){HUGE_VAL, 1, -HUGE_VAL}, 3, (double)NAN, 1);
    always((double[]){(double)NAN, 1, most, most}, 4, (double)NAN, 1);
}

static void the_ends_of_floats(void)
{
    const double most = (double)FLT_MAX, least = (double)FLT_TRUE_MIN, half = (double)FLT_EPSILON / 2;
    always((double[]){most, most, -most}, 3, most, 1);
    float sum, parts[] = {1, (float)half, (float)least}, less[] = {1, (float)half, (float)-least},
               over[] = {(float)most, (float)most};
    exact_sum_float((const void *[]){&parts[0], &parts[1], &parts[2]}, 3, &sum, 1);
    CHECK(sum == 1 + FLT_EPSILON);
    exact_sum_float((const void *[]){&less[0], &less[1], &less[2]}, 3, &sum, 1);
    CHECK(sum == 1);
    exact_sum_float((const void *[]){&over[0], &over[1]}, 2, &sum, 1);
    CHECK(isinf(sum));
}

/* Into any of them, from any address. */
static void in_place(void)
{
    char room[3][8 * COUNT + 1];
    double expected[COUNT];
    for (int into = 0; into < 3; into++) {
        for (int i = 0; i < COUNT; i++) {
            double one = i, other = 1e17, third = -1e17;
            memcpy(room[0] + 1 + 8 * i, &one, 8);
            memcpy(room[1] + 1 + 8 * i, &other, 8);
            memcpy(room[2] + 1 + 8 * i, &third, 8);
            expected[i] = i;
        }
        const void *of[] = {room[0] + 1, room[1] + 1, room[2] + 1};
        exact_sum_double(of, 3, room[into] + 1, COUNT);
        CHECK(memcmp(room[into] + 1, expected, sizeof expected) == 0);
    }
}

int main(void)
{
    sums_are_those_of_whole_numbers();
    the_ends_of_doubles();
    the_ends_of_floats();
    in_place();
    return verdict();
}
