/* Who sends what to whom: pure functions, tested without MPI (tests/test_coll_schedules.c). `place` is a member's number
 * counted from the root. */
#ifndef UNISONO_GROUP_SCHEDULE_H
#define UNISONO_GROUP_SCHEDULE_H

#include <stdint.h>

/* k-nomial tree: the subtree of a place that is not 0 has up to `step` places, a power of the radix; its children are at
   place + i * step / radix^j, 0 < i < radix. */
static inline int tree_step(int size, int place, int radix)
{
    int step = 1;
    while (step < size && place % (step * radix) == 0)
        step *= radix;
    return step;
}

static inline int tree_parent(int place, int step, int radix)
{
    return place - place % (step * radix);
}

/* The largest power of two that is not above `size`. */
static inline int power_below(int size)
{
    int power = 1;
    while (power <= size / 2)
        power *= 2;
    return power;
}

/* Making fewer out of any number of members, at least half of them: of the first 2 * (size - taking), every odd one gives what
   it has to the one before it and takes no part until the end. */
struct folding {
    int power;   /* how many take part: a power of two, or as asked for */
    int number;  /* this one's number among them; -1: it takes no part */
    int partner; /* whom it gives to or takes from; -1: nobody */
};

static inline struct folding fold_onto(int size, int taking, int member)
{
    struct folding folding = {taking, 0, -1};
    int extra = size - taking;
    if (member >= 2 * extra) {
        folding.number = member - extra;
    } else {
        folding.number = member % 2 == 0 ? member / 2 : -1;
        folding.partner = member ^ 1;
    }
    return folding;
}

static inline struct folding fold(int size, int member)
{
    return fold_onto(size, power_below(size), member);
}

/* The member with this number among those that take part. */
static inline int unfold_from(int size, int taking, int number)
{
    int extra = size - taking;
    return number < extra ? 2 * number : number + extra;
}

static inline int unfold(int size, int number)
{
    return unfold_from(size, power_below(size), number);
}

/* The first of the members for which this number answers; the last of them is the one before the next number's first. */
static inline int folded_first(int size, int number)
{
    return unfold_from(size, power_below(size), number);
}

/* Bine butterflies: De Sensi et al., Bine trees: enhancing collective operations by optimizing communication locality (2025). At
   step s a member's partner is (1 - (-2)^(s + 1)) / 3 further on, for odd numbers back; the numbers are a power of two. */
static inline int bine_distance(int step)
{
    int64_t power = INT64_C(1) << (step + 1);
    return (int)((1 - (step % 2 == 0 ? -power : power)) / 3);
}

static inline int bine_partner(int power, int number, int step)
{
    int64_t partner = (int64_t)number + (number % 2 == 0 ? 1 : -1) * bine_distance(step);
    return (int)((partner % power + power) % power);
}

/* Other numbers for the same: the partner of step s differs in bit s, and those of all later steps have the same bits up to it. So they
   say which half of what is left belongs to whom. */
static inline int bine_label(int power, int number)
{
    if (power < 2)
        return 0;
    int last = 0;
    while (1 << (last + 1) < power)
        last++;
    int even = number % 2 == 0 ? number : bine_partner(power, number, last);
    return even / 2 + number % 2 * (power / 2);
}

struct span {
    int64_t from, to;
};

/* Recursive halving with the farthest first: the numbers whose blocks a number still has after the exchange with
   number ^ bit. */
static inline struct span halves_kept(int number, int bit)
{
    return (struct span){number & ~(bit - 1), (number & ~(bit - 1)) + bit};
}

/* Recursive halving: what is left of a vector of `count` for this number after exchanges with number ^ 1, ^ 2, ... below
   `power`. */
static inline struct span halved(int64_t count, int number, int power)
{
    struct span span = {0, count};
    for (int bit = 1; bit < power; bit *= 2) {
        int64_t middle = span.from + (span.to - span.from) / 2;
        if (number & bit)
            span.from = middle;
        else
            span.to = middle;
    }
    return span;
}

/* The i-th of `parts` nearly equal parts. */
static inline struct span part_of(int64_t count, int i, int parts)
{
    int64_t each = count / parts, rest = count % parts;
    int64_t from = i * each + (i < rest ? i : rest);
    return (struct span){from, from + each + (i < rest)};
}

/* Twice around a ring of members, each of whose parts is cut into pieces: what `member` sends as a message of this
   number. In step 0 it is its own, later what has come in the step before; in the first size - 1 steps what comes is
   combined with the own piece, then it replaces that. */
struct ring_piece {
    int step, part;
    int64_t piece;
};

static inline struct ring_piece ring_piece(int size, int member, int64_t pieces, int64_t number)
{
    int step = (int)(number / pieces);
    return (struct ring_piece){step, (member - step + 2 * size) % size, number % pieces};
}

/* Bruck's alltoall to any radix: in the round of `stride`, a power of it, the block for the place at this distance travels so many
 * strides; so many blocks of all `size` travel any. */
static inline int bruck_strides(int distance, int64_t stride, int radix)
{
    return (int)(distance / stride % radix);
}

static inline int64_t bruck_blocks(int size, int64_t stride, int radix)
{
    int64_t turn = stride * radix, rest = size % turn;
    return size - (size / turn * stride + (rest < stride ? rest : stride));
}

#endif
