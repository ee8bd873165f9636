/* Who sends what to whom in the phases of groups: played through without MPI. */
#include <string.h>

#include "check.h"
#include "group/schedule.h"
#include "group/two_trees.h"

enum { MOST = 70 };

/* Every place is somebody's child once, and knows that one as its parent. */
static void trees_reach_everybody(void)
{
    for (int size = 1; size <= MOST; size++)
        for (int radix = 2; radix <= 5; radix++) {
            int reached[MOST] = {1};
            for (int place = 0; place < size; place++)
                for (int below = tree_step(size, place, radix) / radix; below > 0; below /= radix)
                    for (int i = 1; i < radix && place + i * below < size; i++) {
                        int child = place + i * below;
                        CHECK(tree_parent(child, tree_step(size, child, radix), radix) == place);
                        CHECK(reached[place]); /* parents come before their children in this loop */
                        reached[child]++;
                    }
            for (int place = 0; place < size; place++)
                CHECK(reached[place] == 1);
        }
}

/* A subtree of a binomial tree is a stretch of places: what scattering down the tree relies on. */
static void subtrees_are_stretches(void)
{
    for (int size = 1; size <= MOST; size++)
        for (int place = 1; place < size; place++) {
            int step = tree_step(size, place, 2), parent = tree_parent(place, step, 2);
            CHECK(parent < place && place - parent == step);
            CHECK(place + step <= parent + tree_step(size, parent, 2) || place + step >= size);
        }
}

/* Whoever has a number holds a stretch of members, in order, none twice. */
static void folding_keeps_order(void)
{
    for (int size = 1; size <= MOST; size++) {
        int power = power_below(size), next = 0;
        CHECK(power <= size && 2 * power > size);
        for (int number = 0; number < power; number++) {
            int member = unfold(size, number);
            struct folding folding = fold(size, member);
            CHECK(folding.number == number && folding.power == power);
            CHECK(member == next);
            next++;
            if (folding.partner >= 0) {
                struct folding given = fold(size, folding.partner);
                CHECK(folding.partner == next && given.number == -1 && given.partner == member);
                next++;
            }
        }
        CHECK(next == size);
    }
}

/* Recursive doubling with sets of members as what is combined: everybody ends up with all, in order. */
static void doubling_combines_neighbours(void)
{
    for (int power = 1; power <= 64; power *= 2) {
        struct span have[64], before[64];
        for (int i = 0; i < power; i++)
            have[i] = (struct span){i, i + 1};
        for (int bit = 1; bit < power; bit *= 2) {
            memcpy(before, have, sizeof have);
            for (int i = 0; i < power; i++) {
                struct span left = before[i & bit ? i ^ bit : i], right = before[i & bit ? i : i ^ bit];
                CHECK(left.to == right.from);
                have[i] = (struct span){left.from, right.to};
            }
        }
        for (int i = 0; i < power; i++)
            CHECK(have[i].from == 0 && have[i].to == power);
    }
}

static void halves_are_what_partners_need(void)
{
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, INT64_C(1) << 40};
    for (int power = 1; power <= 64; power *= 2)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            int64_t total = 0;
            for (int i = 0; i < power; i++) {
                struct span mine = halved(counts[k], i, power);
                total += mine.to - mine.from;
                for (int bit = 1; bit < power; bit *= 2) {
                    struct span whole = halved(counts[k], i, bit), half = halved(counts[k], i, 2 * bit);
                    struct span other = halved(counts[k], i ^ bit, 2 * bit);
                    CHECK(half.to - half.from + other.to - other.from == whole.to - whole.from);
                    CHECK(i & bit ? other.to == half.from : half.to == other.from);
                }
            }
            CHECK(total == counts[k]);
        }
}

/* Whoever has a number answers for the members up to the next number's first, and in the end for these alone. */
static void halving_from_afar_ends_at_home(void)
{
    for (int size = 1; size <= MOST; size++) {
        int power = power_below(size);
        CHECK(folded_first(size, 0) == 0 && folded_first(size, power) == size);
        for (int number = 0; number < power; number++) {
            struct span kept = {0, power};
            CHECK(folded_first(size, number) == unfold(size, number));
            for (int bit = power / 2; bit > 0; bit /= 2) {
                struct span mine = halves_kept(number, bit), theirs = halves_kept(number ^ bit, bit);
                CHECK(mine.from <= number && number < mine.to && mine.to - mine.from == bit);
                CHECK(mine.from < theirs.from
                          ? mine.from == kept.from && mine.to == theirs.from && theirs.to == kept.to
                          : theirs.from == kept.from && theirs.to == mine.from && mine.to == kept.to);
                kept = mine;
            }
        }
    }
}

static int levels_of(int size)
{
    int levels = 0;
    while (1 << levels < size)
        levels++;
    return levels;
}

/* In each of the two trees everybody hears of the root by its parent, and nobody but the root has children in both. */
static void two_trees_reach_everybody(void)
{
    enum { SIZES = 300 };
    for (int size = 1; size <= SIZES; size++) {
        int inside[SIZES] = {0};
        for (int tree = 0; tree < 2; tree++) {
            int heard[SIZES] = {0}, edges = 0;
            for (int place = 0; place < size; place++) {
                const struct tree_place at = two_trees_at(size, place, tree);
                CHECK((at.parent < 0) == (place == 0) && at.count <= 2);
                inside[place] += at.count > 0;
                for (int i = 0; i < at.count; i++) {
                    CHECK(at.children[i] > 0 && at.children[i] < size);
                    CHECK(two_trees_at(size, at.children[i], tree).parent == place);
                    heard[at.children[i]]++;
                    edges++;
                }
                int above = 0;
                for (int up = place; up > 0 && above <= size; up = two_trees_at(size, up, tree).parent)
                    above++;
                CHECK(above <= 1 + levels_of(size));
            }
            CHECK(edges == size - 1);
            for (int place = 1; place < size; place++)
                CHECK(heard[place] == 1);
            CHECK(two_trees_at(size, 0, tree).count <= 1);
        }
        for (int place = 1; place < size; place++)
            CHECK(inside[place] <= 1);
    }
}

/* The pieces of both halves are the vector, and none is longer than it may be. */
static void pieces_of_two_trees_are_all(void)
{
    for (int64_t count = 0; count < 40; count++)
        for (int64_t piece = 1; piece < 12; piece++) {
            int got[40] = {0};
            for (int64_t i = 0; i < two_trees_pieces(count, piece); i++) {
                struct span span = two_trees_piece(count, piece, i);
                CHECK(span.to - span.from <= piece && span.from <= span.to);
                for (int64_t at = span.from; at < span.to; at++)
                    got[at]++;
            }
            for (int64_t at = 0; at < count; at++)
                CHECK(got[at] == 1);
        }
}

static void parts_are_nearly_equal(void)
{
    for (int64_t count = 0; count < 40; count++)
        for (int parts = 1; parts < 12; parts++) {
            int64_t next = 0;
            for (int i = 0; i < parts; i++) {
                struct span span = part_of(count, i, parts);
                CHECK(span.from == next && span.to - span.from - count / parts <= 1);
                CHECK(span.to - span.from <= part_of(count, 0, parts).to); /* the first is the largest */
                next = span.to;
            }
            CHECK(next == count);
        }
}

/* Numbers as what is combined: after the first time around the member who has a part has it of all, after the second
   everybody; what is sent is what came last, or the own. */
static void ring_combines_and_hands_out(void)
{
    enum { PIECES = 3 };
    for (int size = 2; size <= 9; size++) {
        int have[9][9 * PIECES];
        for (int member = 0; member < size; member++)
            for (int i = 0; i < size * PIECES; i++)
                have[member][i] = 1 << member;
        for (int64_t number = 0; number < 2 * (size - 1) * PIECES; number++) {
            int sent[9];
            for (int member = 0; member < size; member++) {
                struct ring_piece out = ring_piece(size, member, PIECES, number);
                sent[member] = have[member][out.part * PIECES + out.piece];
            }
            for (int member = 0; member < size; member++) {
                int left = (member + size - 1) % size;
                struct ring_piece in = ring_piece(size, left, PIECES, number);
                int *place = &have[member][in.part * PIECES + in.piece];
                CHECK(in.step >= size - 1 || (*place & sent[left]) == 0);
                *place = in.step < size - 1 ? *place | sent[left] : sent[left];
                CHECK(in.step < size - 2 || *place == (1 << size) - 1);
            }
        }
        for (int member = 0; member < size; member++)
            for (int i = 0; i < size * PIECES; i++)
                CHECK(have[member][i] == (1 << size) - 1);
    }
}

/* Each block goes as far as it has to. */
static void bruck_brings_blocks_home(void)
{
    for (int size = 1; size <= MOST; size++)
        for (int radix = 2; radix <= 16; radix++) {
            int64_t gone[MOST] = {0};
            for (int64_t stride = 1; stride < size; stride *= radix) {
                int64_t travel = 0;
                for (int distance = 0; distance < size; distance++) {
                    int strides = bruck_strides(distance, stride, radix);
                    gone[distance] += strides * stride;
                    travel += strides > 0;
                }
                CHECK(travel == bruck_blocks(size, stride, radix));
            }
            for (int distance = 0; distance < size; distance++)
                CHECK(gone[distance] == distance);
        }
}

int main(void)
{
    trees_reach_everybody();
    subtrees_are_stretches();
    folding_keeps_order();
    doubling_combines_neighbours();
    halves_are_what_partners_need();
    halving_from_afar_ends_at_home();
    parts_are_nearly_equal();
    two_trees_reach_everybody();
    pieces_of_two_trees_are_all();
    ring_combines_and_hands_out();
    bruck_brings_blocks_home();
    return verdict();
}
