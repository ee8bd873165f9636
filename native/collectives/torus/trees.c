#include "trees.h"

#include <stdlib.h>

int trees_count(const struct torus *torus)
{
    return torus_wraps(torus) ? 2 * torus->dimensions : torus->dimensions;
}

/* Where the place is as seen from the root: on a torus 0 <= at < L, on a mesh with a sign. */
static void seen_from(const struct torus *torus, int root, int place, bool cyclic, int at[TORUS_MOST])
{
    int from[TORUS_MOST];
    torus_at(torus, root, from);
    torus_at(torus, place, at);
    for (int d = 0; d < torus->dimensions; d++) {
        at[d] -= from[d];
        at[d] += cyclic && at[d] < 0 ? torus->extent[d] : 0;
    }
}

int tree_parent(const struct torus *torus, int tree, int root, int place)
{
    int at[TORUS_MOST], dimensions = torus->dimensions, first = tree % dimensions, chosen = first;
    bool cyclic = torus_wraps(torus);
    if (place == root)
        return -1;
    seen_from(torus, root, place, cyclic, at);
    if (!cyclic) {
        for (int k = dimensions - 1; k >= 0; k--) {
            chosen = (first + k) % dimensions;
            if (at[chosen] != 0)
                break;
        }
        return torus_step(torus, place, chosen, at[chosen] > 0 ? -1 : 1);
    }
    for (int k = 1; at[first] != 0 && k <= dimensions; k++) {
        chosen = (first + k) % dimensions;
        if (at[chosen] != 0)
            break;
    }
    return torus_step(torus, place, chosen, tree < dimensions ? -1 : 1);
}

int tree_children(const struct torus *torus, int tree, int root, int place, int *children)
{
    int count = 0;
    for (int d = 0; d < torus->dimensions; d++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            int next = torus_step(torus, place, d, sign);
            bool twice = sign < 0 && torus->extent[d] == 2;
            if (!twice && next != place && tree_parent(torus, tree, root, next) == place)
                children[count++] = next;
        }
    return count;
}

int trees_depth(const struct torus *torus)
{
    int depth = torus->dimensions > 1 && torus_wraps(torus); /* the last step, to the root's own coordinate */
    for (int d = 0; d < torus->dimensions; d++)
        depth += torus->extent[d] - 1;
    return depth;
}

/* A line cut in halves again and again: the half without the holder gets a holder of its own, in its middle. */
struct half {
    int from, to, holder;
};

/* Cuts; the new holder is returned. The part where `x` is remains. */
static int cut(struct half *half, int x)
{
    int middle = (half->from + half->to) / 2, holder = half->holder;
    bool low = holder < middle;
    int other = low ? (middle + half->to) / 2 : (half->from + middle) / 2;
    bool stays = (x < middle) == low;
    if ((x < middle))
        half->to = middle;
    else
        half->from = middle;
    half->holder = stays ? holder : other;
    return other;
}

/* The whole line; where it wraps, seen so that the root is in the middle. */
static struct half whole(const struct torus *torus, int dimension, int root)
{
    int extent = torus->extent[dimension];
    return (struct half){0, extent, torus->wraps[dimension] ? extent / 2 : root};
}

static int seen(const struct torus *torus, int dimension, int root, int x)
{
    int extent = torus->extent[dimension];
    return torus->wraps[dimension] ? (x - root + extent + extent / 2) % extent : x;
}

static int unseen(const struct torus *torus, int dimension, int root, int x)
{
    int extent = torus->extent[dimension];
    return torus->wraps[dimension] ? (x + root + extent - extent / 2) % extent : x;
}

int short_tree_parent(const struct torus *torus, int root, int place)
{
    int from[TORUS_MOST], at[TORUS_MOST], d = torus->dimensions - 1;
    torus_at(torus, root, from);
    torus_at(torus, place, at);
    while (d >= 0 && at[d] == from[d])
        d--;
    if (d < 0)
        return -1;
    struct half half = whole(torus, d, from[d]);
    int x = seen(torus, d, from[d], at[d]);
    for (;;) {
        int holder = half.holder, other = cut(&half, x);
        if (other == x) {
            at[d] = unseen(torus, d, from[d], holder);
            return torus_place(torus, at);
        }
    }
}

int short_tree_children(const struct torus *torus, int root, int place, int *children)
{
    int from[TORUS_MOST], at[TORUS_MOST], count = 0, last = torus->dimensions - 1;
    torus_at(torus, root, from);
    torus_at(torus, place, at);
    while (last > 0 && at[last] == from[last])
        last--;
    for (int d = last < 0 ? 0 : last; d < torus->dimensions; d++) {
        struct half half = whole(torus, d, from[d]);
        int x = seen(torus, d, from[d], at[d]), here = at[d];
        while (half.to - half.from > 1) {
            int other = cut(&half, x);
            if (half.holder != x || other == x)
                continue; /* not yet its own turn, or just appointed */
            at[d] = unseen(torus, d, from[d], other);
            children[count++] = torus_place(torus, at);
        }
        at[d] = here;
    }
    return count;
}

int short_tree_depth(const struct torus *torus)
{
    int depth = 0;
    for (int d = 0; d < torus->dimensions; d++)
        for (int reach = 1; reach < torus->extent[d]; reach *= 2)
            depth++;
    return depth;
}
