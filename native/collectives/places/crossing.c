#include "crossing.h"

#include <pthread.h>
#include <stdlib.h>

#include "../group/near_trees.h"
#include "../group/radix.h"
#include "places.h"
#include "../reserve.h"

/* What was counted so far, in both orders of the nodes. */
struct crossings {
    pthread_mutex_t lock; /* communicators of the same ranks share it */
    bool known[2][CROSSING_KINDS];
    struct crossing found[2][CROSSING_KINDS];
};

/* What leaves and enters each group at each level. */
struct counter {
    const struct places *places;
    bool near;
    int root, size;
    double total, *out[SWITCH_LEVELS], *in[SWITCH_LEVELS];
};

/* Members are numbered as the algorithms number them: places, or nodes. */
static void count(struct counter *counter, int from, int to, double amount)
{
    const struct places *places = counter->places;
    const int one = counter->near ? from : places->place[from], other = counter->near ? to : places->place[to];
    for (int level = 0; level < places->levels; level++) {
        const int *group = places->group[level];
        if (group[one] == group[other])
            continue;
        counter->out[level][group[one]] += amount;
        counter->in[level][group[other]] += amount;
        counter->total += level == 0 ? amount : 0;
    }
}

/* By place counted from the root. */
static void count_from_root(struct counter *counter, int from, int to, double amount)
{
    count(counter, (from + counter->root) % counter->size, (to + counter->root) % counter->size, amount);
}

static void count_tree(struct counter *counter, int radix, bool scatters)
{
    for (int place = 1; place < counter->size; place++) {
        int step = tree_step(counter->size, place, radix),
            below = counter->size - place < step ? counter->size - place : step;
        count_from_root(counter, tree_parent(place, step, radix), place, scatters ? (double)below / counter->size : 1);
    }
}

/* Members that take part in pairs: with those beyond a power of two, which give `before` and get `after`. `amount` is that of the
   first exchange, and is multiplied after each. */
struct pairs {
    bool far;
    double before, after, amount, factor;
};

static void count_pairs(struct counter *counter, struct pairs pairs)
{
    const int size = counter->size, power = power_below(size);
    for (int i = 0; i < size - power; i++) {
        count(counter, 2 * i + 1, 2 * i, pairs.before);
        count(counter, 2 * i, 2 * i + 1, pairs.after);
    }
    int steps = 0;
    while (1 << steps < power)
        steps++;
    double amount = pairs.amount;
    for (int step = 0; step < steps; step++, amount *= pairs.factor)
        for (int number = 0; number < power; number++) {
            int partner = number ^ 1 << (pairs.far ? steps - 1 - step : step);
            count(counter, unfold(size, number), unfold(size, partner), amount);
        }
}

/* The share of all blocks for which a number answers after so many rounds: of members, of which some numbers have two. */
static double bine_share(const struct radices *pairs, const int64_t *starts, int number, int round, int size)
{
    struct span places = radix_stretch(pairs, number, round);
    return (double)(starts[places.to] - starts[places.from]) / size;
}

/* Along Bine butterflies and what follows them (radices_bine()): an allreduce, in which parts are equal and go the same way back, a
   reduce_scatter of blocks or an allgather. */
static void count_bine(struct counter *counter, enum crossing_kind kind)
{
    const int size = counter->size;
    const struct radices pairs = radices_bine(size);
    const bool vector = kind == CROSSING_BINE_BACK, gathers = kind == CROSSING_BINE_GATHER;
    const int taking = pairs.taking;
    int64_t *starts = reserve_get(((size_t)taking + 1) * sizeof *starts);
    for (int i = 0; i < size - taking; i++) {
        count(counter, 2 * i + 1, 2 * i, gathers ? 1. / size : 1);
        count(counter, 2 * i, 2 * i + 1, vector || gathers ? 1 : 1. / size);
    }
    for (int number = 0; number < taking; number++)
        starts[radix_place(&pairs, number) + 1] = number < size - taking ? 2 : 1;
    for (int place = 0; place < taking; place++)
        starts[place + 1] += starts[place];
    double share = 1;
    for (int round = 0; round < pairs.rounds; round++) {
        share /= pairs.factor[round];
        for (int number = 0; number < taking; number++) {
            const struct circle circle = circle_of(&pairs, number, round);
            for (int digit = 0; digit < circle.factor; digit++) {
                const int other = circle_other(&circle, digit);
                if (digit != circle.digit)
                    count(counter, unfold_from(size, taking, number), unfold_from(size, taking, other),
                          vector ? 2 * share : bine_share(&pairs, starts, gathers ? number : other, round + 1, size));
            }
        }
    }
    reserve_put(starts);
}

/* Each number sends the blocks that it has: of the members for which the numbers answer from which it has heard. */
static void count_far(struct counter *counter, bool back)
{
    const int size = counter->size, power = power_below(size);
    int *blocks = reserve_get((size_t)power * sizeof *blocks);
    for (int number = 0; number < power; number++)
        blocks[number] = number < size - power ? 2 : 1;
    for (int i = 0; i < size - power; i++) {
        count(counter, 2 * i + 1, 2 * i, back ? 1 : 1. / size);
        count(counter, 2 * i, 2 * i + 1, back ? 1. / size : (size - 1.) / size);
    }
    for (int bit = power / 2; bit > 0; bit /= 2)
        for (int number = 0; number < power; number++) {
            const int partner = number ^ bit, one = unfold(size, number), other = unfold(size, partner);
            if (partner < number)
                continue;
            count(counter, one, other, (double)blocks[back ? partner : number] / size);
            count(counter, other, one, (double)blocks[back ? number : partner] / size);
            blocks[number] = blocks[partner] = blocks[number] + blocks[partner];
        }
    reserve_put(blocks);
}

/* From number 0 on, farthest first: who has it sends it to the partner of a butterfly. Others than a power of two get it last. */
static void count_bine_tree(struct counter *counter)
{
    const int size = counter->size, power = power_below(size);
    int *having = reserve_get((size_t)power * sizeof *having), known = 1, steps = 0;
    while (1 << steps < power)
        steps++;
    for (int step = steps - 1; step >= 0; step--, known *= 2)
        for (int i = 0; i < known; i++) {
            having[known + i] = bine_partner(power, having[i], step);
            count_from_root(counter, unfold(size, having[i]), unfold(size, having[known + i]), 1);
        }
    for (int i = 0; i < size - power; i++)
        count_from_root(counter, 2 * i, 2 * i + 1, 1);
    reserve_put(having);
}

/* Half of it along every edge of both trees. */
static void count_two_trees(struct counter *counter, bool grouped)
{
    const struct near_trees trees = {grouped ? counter->places : NULL, counter->size, counter->root};
    for (int tree = 0; tree < 2; tree++)
        for (int member = 0; member < counter->size; member++)
            if (member != counter->root)
                count(counter, near_trees_at(&trees, member, tree).parent, member, 0.5);
}

static void count_bruck(struct counter *counter)
{
    for (int64_t have = 1; have < counter->size; have *= 2) {
        int more = (int)(have < counter->size - have ? have : counter->size - have);
        for (int i = 0; i < counter->size; i++)
            count(counter, i, (int)((i - have + counter->size) % counter->size), (double)more / counter->size);
    }
}

/* By how many nodes groups have: each sends to each of another group. */
static void count_each_to_each(struct counter *counter, int *nodes)
{
    const struct places *places = counter->places;
    const double size = counter->size;
    for (int level = 0; level < places->levels; level++)
        for (int i = 0; i < places->groups[level]; i++, nodes++) {
            double amount = *nodes * (size - *nodes) / size;
            counter->out[level][i] += amount;
            counter->in[level][i] += amount;
            counter->total += level == 0 ? amount : 0;
        }
}

static void count_neighbours(struct counter *counter, bool around, bool back, double amount)
{
    for (int i = 0; i + !around < counter->size; i++) {
        count_from_root(counter, i, (i + 1) % counter->size, amount);
        if (back)
            count_from_root(counter, (i + 1) % counter->size, i, amount);
    }
}

static void count_kind(struct counter *counter, enum crossing_kind kind, int *nodes)
{
    switch (kind) {
    case CROSSING_TREE:
    case CROSSING_TREE_4: count_tree(counter, kind == CROSSING_TREE ? 2 : 4, false); break;
    case CROSSING_TREE_DOUBLING:
        for (int place = 1; place < counter->size; place++)
            count_from_root(counter, place - power_below(place), place, 1);
        break;
    case CROSSING_BINARY:
        for (int place = 1; place < counter->size; place++)
            count_from_root(counter, (place - 1) / 2, place, 1);
        break;
    case CROSSING_CHAIN:
    case CROSSING_LINE: count_neighbours(counter, false, kind == CROSSING_LINE, 1); break;
    case CROSSING_RING: count_neighbours(counter, true, false, (counter->size - 1.) / counter->size); break;
    case CROSSING_SCATTER: count_tree(counter, 2, true); break;
    case CROSSING_DOUBLING:
        count_pairs(counter, (struct pairs){.before = 1, .after = 1, .amount = 1, .factor = 1});
        break;
    case CROSSING_GROWING:
        count_pairs(counter, (struct pairs){.before = 0, .after = 1, .amount = 1. / counter->size, .factor = 2});
        break;
    case CROSSING_HALVING:
    case CROSSING_HALVING_FAR_BACK:
        count_pairs(counter,
                    (struct pairs){
                        .far = kind == CROSSING_HALVING_FAR_BACK, .before = 1, .after = 1, .amount = 1, .factor = 0.5});
        break;
    case CROSSING_FAR:
    case CROSSING_NEAR: count_far(counter, kind == CROSSING_NEAR); break;
    case CROSSING_BINE:
    case CROSSING_BINE_GATHER:
    case CROSSING_BINE_BACK: count_bine(counter, kind); break;
    case CROSSING_HALVING_FAR:
        count_pairs(counter, (struct pairs){
                                 .far = true, .before = 1, .after = 1. / counter->size, .amount = 0.5, .factor = 0.5});
        break;
    case CROSSING_BINE_TREE: count_bine_tree(counter); break;
    case CROSSING_TWO_TREES:
    case CROSSING_NEAR_TREES: count_two_trees(counter, kind == CROSSING_NEAR_TREES && counter->near); break;
    case CROSSING_BRUCK: count_bruck(counter); break;
    default: count_each_to_each(counter, nodes);
    }
}

/* `nodes`: of each group at each level. */
static struct crossing sum_up(const struct counter *counter, const int *nodes)
{
    struct crossing crossing = {.total = counter->total};
    for (int level = 0; level < counter->places->levels; level++)
        for (int i = 0; i < counter->places->groups[level]; i++, nodes++) {
            double out = counter->out[level][i], in = counter->in[level][i], most = (out > in ? out : in) / *nodes;
            crossing.fullest = most > crossing.fullest ? most : crossing.fullest;
        }
    return crossing;
}

static struct crossing count_all(const struct places *places, enum crossing_kind kind, bool near)
{
    struct counter counter = {
        .places = places, .near = near, .root = near ? places->place[0] : 0, .size = places->nodes};
    size_t groups = 0;
    for (int level = 0; level < places->levels; level++)
        groups += (size_t)places->groups[level];
    double *amounts = reserve_get(2 * groups * sizeof *amounts), *next = amounts;
    int *nodes = reserve_get(groups * sizeof *nodes), *of_level = nodes;
    for (int level = 0; level < places->levels; level++) {
        counter.out[level] = next;
        counter.in[level] = next + places->groups[level];
        next += 2 * places->groups[level];
        for (int i = 0; i < places->nodes; i++)
            of_level[places->group[level][i]]++;
        of_level += places->groups[level];
    }
    count_kind(&counter, kind, nodes);
    struct crossing crossing = sum_up(&counter, nodes);
    reserve_put(amounts);
    reserve_put(nodes);
    return crossing;
}

struct crossing crossing_of(const struct places *places, enum crossing_kind kind, bool near)
{
    if (places == NULL)
        return (struct crossing){0, 0};
    struct crossings *crossings = places->crossings;
    near = near || places->in_order;
    pthread_mutex_lock(&crossings->lock);
    if (!crossings->known[near][kind])
        crossings->found[near][kind] = count_all(places, kind, near);
    crossings->known[near][kind] = true;
    struct crossing crossing = crossings->found[near][kind];
    pthread_mutex_unlock(&crossings->lock);
    return crossing;
}

struct crossings *crossings_create(void)
{
    struct crossings *crossings = reserve_get(sizeof *crossings);
    pthread_mutex_init(&crossings->lock, NULL);
    return crossings;
}

void crossings_free(struct crossings *crossings)
{
    pthread_mutex_destroy(&crossings->lock);
    reserve_put(crossings);
}
