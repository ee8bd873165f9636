/* Two binary trees over the same members, of which each is inside at most one, and a leaf of the other: each tree carries half of
 * a vector. P. Sanders, J. Speck, J. L. Traff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009).
 * Pure functions, tested without MPI (tests/test_coll_schedules.c). */
#ifndef UNISONO_GROUP_TWO_TREES_H
#define UNISONO_GROUP_TWO_TREES_H

#include "schedule.h"

#define TWO_TREES_REFERENCE                                                                                            \
    "Sanders, Speck, Traff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009)"

/* Places are counted from the root, which is above both trees. -1: nobody. */
struct tree_place {
    int parent, count, children[2];
};

/* The numbers 1 to size - 1 in the order of the tree: odd ones are leaves. Mirrored, or, where that would leave them odd, moved on
   by one, leaves of the first tree are inside the second. */
static inline int two_trees_number(int size, int place, int tree)
{
    if (tree == 0)
        return place;
    return size % 2 == 1 ? size - place : place == 1 ? size - 1 : place - 1;
}

static inline int two_trees_place(int size, int number, int tree)
{
    if (tree == 0)
        return number;
    return size % 2 == 1 ? size - number : number == size - 1 ? 1 : number + 1;
}

static inline struct tree_place two_trees_at(int size, int place, int tree)
{
    struct tree_place at = {.parent = -1};
    if (size < 2)
        return at;
    const int most = size - 1, top = power_below(most), number = place == 0 ? 0 : two_trees_number(size, place, tree);
    if (place == 0) {
        at.children[at.count++] = two_trees_place(size, top, tree);
        return at;
    }
    const int low = number & -number;
    int64_t parent = (int64_t)(number ^ low) | 2 * (int64_t)low;
    if (number == top)
        at.parent = 0;
    else
        at.parent = two_trees_place(size, parent > most ? number ^ low : (int)parent, tree);
    if (low > 1)
        at.children[at.count++] = two_trees_place(size, number - low / 2, tree);
    int step = low / 2;
    while (step > most - number)
        step /= 2;
    if (step > 0)
        at.children[at.count++] = two_trees_place(size, number + step, tree);
    return at;
}

/* Halves are cut into pieces, the first tree's and the second's by turns: the elements of one of them; none: of a half that has fewer. */
static inline struct span two_trees_piece(int64_t count, int64_t piece, int64_t number)
{
    struct span half = part_of(count, (int)(number % 2), 2);
    int64_t from = half.from + number / 2 * piece;
    return (struct span){from < half.to ? from : half.to, from + piece < half.to ? from + piece : half.to};
}

/* Of both trees together. */
static inline int64_t two_trees_pieces(int64_t count, int64_t piece)
{
    return 2 * (((count + 1) / 2 + piece - 1) / piece);
}

#endif
