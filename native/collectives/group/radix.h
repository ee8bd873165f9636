/* Rounds in which circles of several members exchange at once, instead of pairs: pure functions, tested without MPI
 * (tests/test_coll_radix.c). Those who take part have numbers, which are written with one digit for each round, the lowest
 * first; a circle is those whose numbers differ in that digit alone. So the first rounds are among neighbours. */
#ifndef UNISONO_GROUP_RADIX_H
#define UNISONO_GROUP_RADIX_H

#include <stdbool.h>

#include "../torus/torus.h"
#include "schedule.h"

/* More at once wait for nothing but one another, on any machine: a message costs a twentieth of a latency at the least. */
enum { RADIX_MOST = 16, RADIX_ROUNDS = 31 };

struct radices {
    int taking; /* how many members take part: the product of the factors */
    int rounds;
    int factor[RADIX_ROUNDS];
    int bine;    /* the first rounds are those of Bine butterflies among so many neighbours (bine_partner()); 0: none */
    double cost; /* seconds; below 0: `taking` is no such product */
};

/* What a round costs: seconds until the first message from a neighbour is there, and for each one more. `hop`: for each further link of a
   torus on whose places members follow one another, or, where none is known, for each doubling of the distance. `spread`: of parts of
   a vector, a quarter of the seconds that the whole takes. Nobody tells where links become scarce, so a byte costs a quarter more
   with each doubling of the distance that it goes: what is long goes near first and in pairs, what is short many ways at once. */
struct round_cost {
    double first, more, hop, spread;
    const struct torus *torus; /* NULL: none is known */
};

/* log2(n), made of sums and products alone: all ranks have to come to the same factors, and the last bit of what a C library
   says of a logarithm is not the same on every processor. */
static inline double radix_log2(int n)
{
    enum { BITS = 30 };
    double rest = n, found = 0, bit = 1;
    for (; rest >= 2; rest /= 2)
        found += 1;
    for (int i = 0; i < BITS; i++) {
        rest *= rest;
        bit /= 2;
        if (rest >= 2)
            rest /= 2, found += bit;
    }
    return found;
}

/* Doublings of the distance, of all messages of a member to its circle together. `stride`: how many take part in the rounds before,
   which is how far apart the members of the circle are. */
static inline double radix_doublings(int factor, int stride)
{
    /* log2((factor - 1)!) */
    static const double factorial[RADIX_MOST + 1] = {0,       0,       0,       1,       2.58496, 4.58496,
                                                     6.90689, 9.49185, 12.2992, 15.2992, 18.4691, 21.7910,
                                                     25.2505, 28.8354, 32.5358, 36.3436, 40.2505};
    return (factor - 1) * radix_log2(stride) + factorial[factor];
}

/* For how many `hop` the farthest of a circle is further away than a neighbour. */
static inline double radix_further(const struct torus *torus, int factor, int stride)
{
    if (torus == NULL)
        return radix_log2(stride) + radix_log2(factor) - 1;
    int most = 1;
    for (int k = 1; k < factor; k++) {
        const int hops = torus_hops(torus, k * stride);
        most = hops > most ? hops : most;
    }
    return most - 1;
}

static inline double radix_round(struct round_cost cost, int factor, int stride)
{
    double seconds = cost.first + (factor - 2) * cost.more;
    if (cost.hop > 0)
        seconds += cost.hop * radix_further(cost.torus, factor, stride);
    if (cost.spread > 0)
        seconds += cost.spread / stride / factor * radix_doublings(factor, stride);
    return seconds;
}

/* What whole vectors take longer than those of near members do, of which a quarter takes `spread` seconds. */
static inline double radices_spread(const struct radices *radices, double spread)
{
    double doublings = 0;
    for (int i = 0, stride = 1; i < radices->rounds; stride *= radices->factor[i++])
        doublings += radix_doublings(radices->factor[i], stride);
    return spread * doublings;
}

/* The cheapest factors of this number, whose product it is. */
static inline struct radices radices_of(int taking, struct round_cost cost)
{
    enum { DIVISORS = 512 }; /* no number of 31 bits has more of the primes below RADIX_MOST that all are below 2^20 */
    struct radices best = {.taking = taking, .cost = -1};
    struct {
        int rest, factor, next;
        double cost;
    } known[DIVISORS] = {{.rest = 1}};
    int count = 1;
    /* Rests that are products of small factors, smaller ones first. */
    for (int at = 0; at < count; at++) {
        for (int prime = 2; prime <= RADIX_MOST; prime += 1 + (prime > 2)) {
            int rest = known[at].rest, larger = rest * prime, place = count;
            if (rest > taking / prime || taking % larger != 0)
                continue;
            while (place > at && known[place - 1].rest > larger)
                place--;
            if (known[place - 1].rest == larger || count == DIVISORS)
                continue;
            for (int i = count++; i > place; i--)
                known[i] = known[i - 1];
            known[place].rest = larger;
        }
        known[at].cost = at == 0 ? 0 : -1;
        for (int next = at - 1; next >= 0 && known[at].rest / known[next].rest <= RADIX_MOST; next--) {
            if (known[at].rest % known[next].rest != 0)
                continue;
            int factor = known[at].rest / known[next].rest;
            double all = radix_round(cost, factor, taking / known[at].rest) + known[next].cost;
            if (known[at].cost >= 0 && all >= known[at].cost)
                continue;
            known[at].cost = all, known[at].factor = factor, known[at].next = next;
        }
    }
    if (known[count - 1].rest != taking)
        return best;
    best.cost = known[count - 1].cost;
    for (int at = count - 1; at > 0; at = known[at].next)
        best.factor[best.rounds++] = known[at].factor;
    return best;
}

static inline void radices_better(struct radices *best, struct radices other, double fold)
{
    other.cost = other.cost < 0 ? other.cost : other.cost + fold;
    if (other.cost >= 0 && (best->cost < 0 || other.cost < best->cost))
        *best = other;
}

/* The same for any number of members, of which some may be taken in by a neighbour first (fold_onto()), which costs `fold`: all
   of them, the most that have factors, or a power of two. */
static inline struct radices radices_for(int size, struct round_cost cost, double fold)
{
    struct radices best = radices_of(size, cost);
    int power = power_below(size), taking = size - 1;
    while (taking > power && radices_of(taking, cost).cost < 0)
        taking--;
    if (taking > power)
        radices_better(&best, radices_of(taking, cost), fold);
    if (size > power)
        radices_better(&best, radices_of(power, cost), fold);
    return best;
}

/* The cheapest factors of this number or one a little above it. */
static inline struct radices radices_covering(int size, struct round_cost cost)
{
    enum { TRIED = 32 };
    struct radices best = {.cost = -1};
    for (int number = size; number < size + TRIED || best.cost < 0; number++)
        radices_better(&best, radices_of(number, cost), 0);
    return best;
}

/* Bine butterflies among as many neighbours as the power of two that divides the number of members, then circles of the rest; where that
   is more than RADIX_MOST, or hardly anything is left for butterflies, of a power of two of them, into which the others are folded
   (fold_onto()). The same whatever messages cost, so that what it puts where can be counted (crossing.h). */
static inline struct radices radices_bine(int size)
{
    enum { LEAST = 4 };
    int power = size & -size, taking = power >= LEAST && size / power <= RADIX_MOST ? size : power_below(size);
    struct radices pairs = {.taking = taking, .bine = taking & -taking};
    for (int stride = 1; stride < pairs.bine; stride *= 2)
        pairs.factor[pairs.rounds++] = 2;
    if (pairs.taking > pairs.bine)
        pairs.factor[pairs.rounds++] = pairs.taking / pairs.bine;
    return pairs;
}

/* What these rounds cost: a partner of a butterfly is nearer than one of plain pairs. `fold`: for taking in others. */
static inline double radices_bine_cost(const struct radices *pairs, int size, struct round_cost cost, double fold)
{
    double all = pairs->taking < size ? fold : 0;
    for (int i = 0, stride = 1; i < pairs->rounds; stride *= pairs->factor[i++]) {
        int distance = i % 2 == 0 ? bine_distance(i) : -bine_distance(i);
        all += stride >= pairs->bine ? radix_round(cost, pairs->factor[i], stride)
                                     : cost.first + cost.hop * radix_further(cost.torus, 2, distance) +
                                           cost.spread / stride / 2 * radix_log2(distance);
    }
    return all;
}

/* Any number of members, without factors: in round i everybody sends to radix - 1 others, j * radix^i further on, 0 < j < radix.
   `block`: seconds for each block of an alltoall that it sends (bruck_blocks()). */
struct dissemination {
    int radix;
    double cost;
};

static inline struct dissemination dissemination_of(int size, struct round_cost cost, double block)
{
    struct dissemination best = {2, -1};
    for (int radix = 2; radix <= RADIX_MOST; radix++) {
        double all = 0;
        for (int64_t distance = 1; distance < size; distance *= radix) {
            int64_t partners = (size - 1) / distance;
            all += radix_round(cost, partners < radix - 1 ? (int)partners + 1 : radix, (int)distance);
            all += block > 0 ? block * (double)bruck_blocks(size, distance, radix) : 0;
        }
        if (best.cost < 0 || all < best.cost)
            best = (struct dissemination){radix, all};
    }
    return best;
}

/* A number's circle in a round: the numbers are base + i * stride, 0 <= i < factor; the own has i = digit. */
struct circle {
    int factor, stride, digit, base;
    int partner; /* the other of a pair that is found otherwise; -1 */
};

/* A number by whose digits blocks are divided: members of a circle differ in that of their round, and have those of the rounds before
   in common. */
static inline int radix_label(const struct radices *radices, int number)
{
    return radices->bine == 0 ? number
                              : number - number % radices->bine + bine_label(radices->bine, number % radices->bine);
}

static inline struct circle circle_of(const struct radices *radices, int number, int round)
{
    struct circle circle = {.factor = radices->factor[round], .stride = 1, .partner = -1};
    for (int i = 0; i < round; i++)
        circle.stride *= radices->factor[i];
    if (circle.stride < radices->bine)
        circle.partner = number - number % radices->bine + bine_partner(radices->bine, number % radices->bine, round);
    circle.digit = radix_label(radices, number) / circle.stride % circle.factor;
    circle.base = number - circle.digit * circle.stride;
    return circle;
}

/* The number of another one of the circle. */
static inline int circle_other(const struct circle *circle, int digit)
{
    return circle->partner >= 0 ? circle->partner : circle->base + digit * circle->stride;
}

/* Blocks are laid so that those of a circle's members, with all that they answer for, are stretches of one length, one after
   the other: where the block of this number is. */
static inline int radix_place(const struct radices *radices, int number)
{
    int place = 0;
    number = radix_label(radices, number);
    for (int round = 0; round < radices->rounds; round++) {
        place = place * radices->factor[round] + number % radices->factor[round];
        number /= radices->factor[round];
    }
    return place;
}

/* The places that a number answers for before a round, or after all of them. */
static inline struct span radix_stretch(const struct radices *radices, int number, int round)
{
    int place = radix_place(radices, number), length = radices->taking;
    for (int i = 0; i < round; i++)
        length /= radices->factor[i];
    return (struct span){place - place % length, place - place % length + length};
}

#endif
