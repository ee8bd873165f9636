/* Two binary trees over the same members, as two_trees.h has them, that go over groups of members which are near one another (places.h)
 * first, over the groups in these, and over members last: each tree enters each group once, by whatever member is nearest to its top.
 *
 * A group that hands on to others does so by members that come before the trees over the rest: each has one of these groups below it, and
 * what follows. So a path is longer by a member or two for each group on it. As before nobody has more than two below it in both trees
 * together: who comes before one tree is a leaf of the other.
 *
 * Pure functions, tested without MPI (tests/test_coll_trees.c): without memory, in time in proportion to the levels of groups
 * and the logarithm of the members. */
#ifndef UNISONO_GROUP_NEAR_TREES_H
#define UNISONO_GROUP_NEAR_TREES_H

#include "../places/places.h"
#include "two_trees.h"

struct near_trees {
    const struct places *places; /* the members are these places; NULL: all are in one group */
    int size, root;
};

/* Parent and children by their own numbers, not as counted from the root. */
struct tree_place near_trees_at(const struct near_trees *trees, int member, int tree);

/* About how many members the longest path passes: a group may take two, and of one there is one less. */
int near_trees_depth(const struct places *places, int size);

#endif
