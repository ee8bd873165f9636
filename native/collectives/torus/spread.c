#include "spread.h"

#include <stdlib.h>

/* What offsets are sorted by: how far, then which family of mirror images and turns, then the place in the family. */
struct ranked {
    int hops, longest, offset;
    int64_t family; /* distances without signs, largest first */
    int turn;
};

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->hops != y->hops)
        return x->hops - y->hops;
    if (x->longest != y->longest)
        return x->longest - y->longest;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return x->turn != y->turn ? x->turn - y->turn : x->offset - y->offset;
}

/* Opposites follow one another, then turns: the sign pattern without the first sign, the dimension of the longest
   distance, the first sign. */
static int turn_of(const int *distance, int dimensions)
{
    int farthest = 0, signs = 0, first = 0;
    for (int d = 0; d < dimensions; d++)
        farthest = abs(distance[d]) > abs(distance[farthest]) ? d : farthest;
    for (int d = 0; d < dimensions; d++)
        first = first == 0 ? (distance[d] > 0) - (distance[d] < 0) : first;
    for (int d = 0; d < dimensions; d++)
        signs = signs * 2 + (distance[d] * first < 0);
    return (signs * TORUS_MOST + farthest) * 2 + (first < 0);
}

static struct ranked rank_of(const struct torus *torus, int offset)
{
    int distance[TORUS_MOST] = {0}, sizes[TORUS_MOST] = {0};
    struct ranked ranked = {.hops = torus_hops(torus, offset), .offset = offset};
    for (int d = 0; d < torus->dimensions; d++) {
        distance[d] = torus_distance(torus, offset, d);
        sizes[d] = abs(distance[d]);
    }
    ranked.turn = turn_of(distance, torus->dimensions);
    qsort(sizes, (size_t)torus->dimensions, sizeof *sizes, descending);
    for (int d = 0; d < torus->dimensions; d++)
        ranked.family = (ranked.family << 10) + (sizes[d] & 1023);
    ranked.longest = sizes[0];
    return ranked;
}

void spread_order(const struct torus *torus, int *offsets)
{
    int places = torus_places(torus);
    struct ranked *all = malloc((size_t)places * sizeof *all);
    for (int i = 1; all != NULL && i < places; i++)
        all[i] = rank_of(torus, i);
    if (all != NULL)
        qsort(all + 1, (size_t)places - 1, sizeof *all, compare);
    for (int i = 1; i < places; i++)
        offsets[i - 1] = all == NULL ? i : all[i].offset; /* without memory: right, if not good */
    free(all);
}

void spread_order_double(const struct torus *torus, int *offsets)
{
    int places = torus_places(torus), count = 0;
    spread_order(torus, offsets);
    int *simple = malloc((size_t)places * sizeof *simple);
    bool *done = calloc((size_t)places, sizeof *done);
    for (int i = 0; simple != NULL && i < places - 1; i++)
        simple[i] = offsets[i];
    for (int i = 0; simple != NULL && done != NULL && i < places - 1; i++) {
        int opposite = torus_add(torus, 0, simple[i], -1);
        if (!done[simple[i]])
            offsets[count++] = simple[i];
        if (!done[simple[i]] && opposite != simple[i])
            offsets[count++] = opposite;
        done[simple[i]] = done[opposite] = true;
    }
    free(simple);
    free(done);
}

/* Of 4 places, the message on which a half goes on would be the one it came with. */
static bool balanced(const struct torus *torus, int dimension)
{
    return torus->wraps[dimension] && torus->extent[dimension] >= 6 && torus->extent[dimension] % 2 == 0;
}

unsigned spread_halfway(const struct torus *torus, int offset)
{
    unsigned dimensions = 0;
    int at[TORUS_MOST];
    torus_at(torus, offset, at);
    for (int d = 0; d < torus->dimensions; d++)
        if (balanced(torus, d) && at[d] == torus->extent[d] / 2)
            dimensions |= 1U << d;
    return dimensions;
}

unsigned spread_bundle(const struct torus *torus, int offset, int *half)
{
    unsigned up = 0, down = 0;
    int at[TORUS_MOST];
    torus_at(torus, offset, at);
    for (int d = 0; d < torus->dimensions; d++) {
        if (at[d] == 0)
            continue;
        if (!balanced(torus, d) || (at[d] != 1 && at[d] != torus->extent[d] - 1))
            return 0;
        *(at[d] == 1 ? &up : &down) |= 1U << d;
    }
    *half = down != 0;
    return up != 0 && down != 0 ? 0 : up | down;
}

/* By the places one step up (half 0) or down (1) from where the blocks began. */
static int relayed_by(const struct torus *torus, int offset, int half, struct spread_relayed *relayed)
{
    unsigned able = 0;
    int at[TORUS_MOST], count = 0;
    torus_at(torus, offset, at);
    for (int d = 0; d < torus->dimensions; d++)
        if (balanced(torus, d) && at[d] == torus->extent[d] / 2 + (half ? 1 : -1))
            able |= 1U << d;
    for (unsigned some = able; some != 0; some = (some - 1) & able) {
        int begun[TORUS_MOST] = {0};
        for (int d = 0; d < torus->dimensions; d++)
            begun[d] = some >> d & 1 ? (half ? 1 : torus->extent[d] - 1) : 0;
        int from = torus_place(torus, begun);
        relayed[count++] = (struct spread_relayed){from, torus_add(torus, offset, from, -1), half};
    }
    return count;
}

int spread_relayed(const struct torus *torus, int offset, struct spread_relayed relayed[SPREAD_PARTS])
{
    if (spread_halfway(torus, offset) != 0)
        return 0; /* blocks from elsewhere would be half-way in more dimensions, and go another way */
    int count = relayed_by(torus, offset, 0, relayed);
    return count + relayed_by(torus, offset, 1, relayed + count);
}
