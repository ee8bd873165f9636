/* Circles of several members: who exchanges what with whom, played through without MPI. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "group/radix.h"

enum { MOST = 64 };
static const struct torus box = {.dimensions = 3, .extent = {6, 4, 4}, .wraps = {true, true, true}};
static const struct round_cost costs[] = {{2e-6, 0.2e-6, 0, 0, NULL},
                                          {1, 1, 0, 0, NULL},
                                          {1, 0.001, 0, 4, NULL},
                                          {5e-6, 20e-6, 0, 1e-6, NULL},
                                          {2e-6, 0.2e-6, 0, 50e-6, NULL},
                                          {0.5e-6, 0.2e-6, 0.4e-6, 0, NULL},
                                          {0.5e-6, 0.2e-6, 0.5e-6, 0, &box},
                                          {1, 0.1, 0.3, 2, NULL}};

static void factors_make_the_number(void)
{
    for (int size = 1; size <= 3000; size++)
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
            struct radices exact = radices_of(size, costs[k]), any = radices_for(size, costs[k], 3 * costs[k].first);
            int product = 1;
            double cost = 0;
            CHECK(any.cost >= 0 && any.taking <= size && 2 * any.taking >= size && any.taking >= power_below(size));
            CHECK(exact.cost < 0 || any.cost <= exact.cost);
            for (int i = 0; i < any.rounds; i++) {
                CHECK(any.factor[i] >= 2 && any.factor[i] <= RADIX_MOST);
                cost += radix_round(costs[k], any.factor[i], product);
                product *= any.factor[i];
            }
            CHECK(product == any.taking);
            cost += any.taking == size ? 0 : 3 * costs[k].first;
            CHECK(cost <= any.cost * 1.000001 && cost >= any.cost * 0.999999);
        }
    CHECK(radices_of(17, costs[0]).cost < 0 && radices_for(17, costs[0], 1).taking == 16);
}

/* Nothing is cheaper: all orders of all factors, for what is small. */
static double cheapest(int rest, int stride, struct round_cost cost)
{
    double best = rest == 1 ? 0 : -1;
    for (int factor = 2; factor <= rest && factor <= RADIX_MOST; factor++) {
        double below = rest % factor == 0 ? cheapest(rest / factor, stride * factor, cost) : -1;
        if (below >= 0 && (best < 0 || radix_round(cost, factor, stride) + below < best))
            best = radix_round(cost, factor, stride) + below;
    }
    return best;
}

static void nothing_is_cheaper(void)
{
    for (int size = 1; size <= 400; size++)
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
            double found = radices_of(size, costs[k]).cost, least = cheapest(size, 1, costs[k]);
            CHECK(least < 0 ? found < 0 : found <= least * 1.000001 && found >= least * 0.999999);
        }
}

/* A free message makes circles large, a dear one pairs. */
static void costs_say_how_many(void)
{
    CHECK(radices_of(64, (struct round_cost){1, 1, 0, 0, NULL}).rounds == 6);
    CHECK(radices_of(64, (struct round_cost){1, 0.01, 0, 0, NULL}).rounds == 2);
    struct radices longer = radices_of(64, (struct round_cost){1, 0.1, 0, 30, NULL});
    CHECK(longer.factor[0] == 2 && longer.factor[longer.rounds - 1] > 2); /* near in pairs, the short rest many ways */
    /* Where what is far takes longer, each round costs more. On a torus a circle along a dimension is as near as can be. */
    CHECK(radices_of(96, (struct round_cost){1, 0.1, 1, 0, NULL}).cost >
          radices_of(96, (struct round_cost){1, 0.1, 0, 0, NULL}).cost);
    struct radices along = radices_of(96, (struct round_cost){0.5, 0.2, 0.5, 0, &box});
    int ends = 0;
    for (int i = 0, stride = 1; i < along.rounds; i++)
        stride *= along.factor[i], ends += stride == 6 || stride == 6 * 4 || stride == 6 * 4 * 4;
    CHECK(ends == 3);
    CHECK(dissemination_of(64, (struct round_cost){1, 10, 0, 0, NULL}, 0).radix == 2);
    CHECK(dissemination_of(16, (struct round_cost){1, 0.01, 0, 0, NULL}, 0).radix == 16);
    CHECK(dissemination_of(64, (struct round_cost){1, 0.3, 0, 0, NULL}, 0).radix == 4);
    CHECK(dissemination_of(64, (struct round_cost){1, 0.3, 0, 0, NULL}, 0.1).radix == 8);
}

/* Sets of members as what is combined: whoever combines has neighbours, in order, and in the end everybody has all. */
static void multiplying_combines_neighbours(void)
{
    for (int size = 1; size <= MOST; size++)
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
            struct radices radices = radices_for(size, costs[k], 0);
            struct span have[MOST], before[MOST];
            for (int i = 0; i < radices.taking; i++)
                have[i] = (struct span){i, i + 1};
            for (int round = 0; round < radices.rounds; round++) {
                memcpy(before, have, sizeof have);
                for (int i = 0; i < radices.taking; i++) {
                    struct circle circle = circle_of(&radices, i, round);
                    CHECK(circle.base + circle.digit * circle.stride == i && circle.digit < circle.factor);
                    for (int j = 0; j < circle.factor; j++) {
                        struct span its = before[circle.base + j * circle.stride];
                        CHECK(j == 0 || its.from == have[i].to);
                        have[i].from = j == 0 ? its.from : have[i].from;
                        have[i].to = its.to;
                    }
                }
            }
            for (int i = 0; i < radices.taking; i++)
                CHECK(have[i].from == 0 && have[i].to == radices.taking);
        }
}

/* What a number answers for after a round is its part of what it answered for before, its circle has the other parts, and in
   the end it answers for its own place alone. */
static void stretches_are_divided(void)
{
    for (int kind = 0; kind < 2 * MOST; kind++) {
        struct radices radices = kind < MOST ? radices_of(kind + 1, costs[0]) : radices_bine(kind - MOST + 1);
        const int size = radices.taking;
        int taken[MOST] = {0};
        if (radices.cost < 0)
            continue;
        for (int i = 0; i < size; i++) {
            struct span all = radix_stretch(&radices, i, 0), last = radix_stretch(&radices, i, radices.rounds);
            CHECK(all.from == 0 && all.to == size);
            CHECK(last.from == radix_place(&radices, i) && last.to == last.from + 1);
            taken[last.from]++;
            for (int round = 0; round < radices.rounds; round++) {
                struct circle circle = circle_of(&radices, i, round);
                struct span before = radix_stretch(&radices, i, round);
                int64_t next = before.from;
                for (int j = 0; j < circle.factor; j++) {
                    const int other = j == circle.digit ? i : circle_other(&circle, j);
                    struct span part = radix_stretch(&radices, other, round + 1);
                    struct circle its = circle_of(&radices, other, round);
                    CHECK(its.digit == j && (j == circle.digit || circle_other(&its, circle.digit) == i));
                    CHECK(part.from == next && part.to - part.from == (before.to - before.from) / circle.factor);
                    next = part.to;
                }
                CHECK(next == before.to);
            }
        }
        for (int i = 0; i < size; i++)
            CHECK(taken[i] == 1);
    }
}

/* Of all numbers once: what a number combines after so many rounds. */
static void bine_combines_everybody(void)
{
    for (int size = 1; size <= MOST; size++) {
        struct radices radices = radices_bine(size);
        uint64_t have[MOST], before[MOST];
        int product = 1;
        CHECK(radices.taking <= size && 2 * radices.taking > size);
        for (int i = 0; i < radices.taking; i++)
            have[i] = UINT64_C(1) << i;
        for (int round = 0; round < radices.rounds; round++) {
            CHECK(radices.factor[round] >= 2 && radices.factor[round] <= RADIX_MOST);
            product *= radices.factor[round];
            memcpy(before, have, sizeof have);
            for (int i = 0; i < radices.taking; i++) {
                struct circle circle = circle_of(&radices, i, round);
                for (int j = 0; j < circle.factor; j++) {
                    if (j == circle.digit)
                        continue;
                    uint64_t its = before[circle_other(&circle, j)];
                    CHECK((have[i] & its) == 0);
                    have[i] |= its;
                }
            }
        }
        CHECK(product == radices.taking);
        for (int i = 0; i < radices.taking; i++)
            CHECK(have[i] == (radices.taking == 64 ? ~UINT64_C(0) : (UINT64_C(1) << radices.taking) - 1));
    }
    CHECK(radices_bine(96).bine == 32 && radices_bine(96).taking == 96 && radices_bine(97).taking == 64);
    CHECK(bine_partner(16, 0, 2) == 3 && bine_partner(16, 1, 3) == 6 && bine_partner(16, 0, 3) == 11);
    /* They are nearer than plain pairs: all else being equal they cost less, the more so the farther. */
    struct radices pairs = radices_bine(64);
    CHECK(radices_bine_cost(&pairs, 64, costs[2], 0) < radix_round(costs[2], 2, 1) + radix_round(costs[2], 2, 2) +
                                                           radix_round(costs[2], 2, 4) + radix_round(costs[2], 2, 8) +
                                                           radix_round(costs[2], 2, 16) + radix_round(costs[2], 2, 32));
}

/* Trees that are alike from every member (blocks_pat.c): everybody at a distance from the root gets the block once, from one who has it. */
static void trees_cover_everybody(void)
{
    for (int size = 1; size <= MOST; size++)
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
            struct radices radices = radices_covering(size, costs[k]);
            bool has[MOST] = {true};
            int64_t stride = radices.taking;
            CHECK(radices.cost >= 0 && radices.taking >= size && radices.taking < 2 * size + 32);
            for (int round = radices.rounds - 1; round >= 0; round--) {
                const int64_t step = stride;
                stride /= radices.factor[round];
                for (int64_t distance = 0; distance < size; distance += step)
                    for (int64_t i = 1; i < radices.factor[round] && distance + i * stride < size; i++) {
                        CHECK(has[distance] && !has[distance + i * stride]);
                        has[distance + i * stride] = true;
                    }
            }
            for (int distance = 0; distance < size; distance++)
                CHECK(has[distance]);
        }
}

/* Everybody has heard of everybody in the end, of nobody twice in a round. */
static void dissemination_reaches_everybody(void)
{
    for (int size = 1; size <= MOST; size++)
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
            int radix = dissemination_of(size, costs[k], 0).radix;
            bool heard[MOST] = {true}; /* of who is so far back */
            for (int64_t distance = 1; distance < size; distance *= radix) {
                bool before[MOST];
                memcpy(before, heard, sizeof heard);
                for (int64_t i = 1; i < radix && i * distance < size; i++)
                    for (int64_t back = 0; back < size; back++)
                        if (before[back])
                            heard[(back + i * distance) % size] = true;
            }
            for (int back = 0; back < size; back++)
                CHECK(heard[back]);
        }
}

static void logarithms_are_right(void)
{
    for (int n = 1; n <= 100000; n++)
        CHECK(fabs(radix_log2(n) - log2(n)) < 1e-8);
    for (int bit = 0; bit < 31; bit++)
        CHECK(radix_log2(1 << bit) == bit);
}

int main(void)
{
    logarithms_are_right();
    factors_make_the_number();
    nothing_is_cheaper();
    costs_say_how_many();
    multiplying_combines_neighbours();
    stretches_are_divided();
    bine_combines_everybody();
    trees_cover_everybody();
    dissemination_reaches_everybody();
    return verdict();
}
