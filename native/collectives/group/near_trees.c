#include "near_trees.h"

#include <stdbool.h>

/* All members, a group, a group in it ... or one member: a stretch of members. */
struct unit {
    int level; /* of the groups of which it is one; -1: it is all */
    int from, to;
    bool rooted;  /* the root is in it */
    int below[2]; /* how many others it hands on to, in each tree: two at most in both together */
};

/* How the units in a unit are numbered. 0: the one with the root, if it is here. Then those that come before a tree, first tree's
   first: each hands on to one unit outside. The rest, from `before` on, are places in two trees. */
struct layout {
    int units, first[2], lead[2], before, rest;
};

/* Whom a unit hands on to: another in the same unit, or the one outside that is the `which`th which this unit hands on to. */
struct next {
    int number, which; /* number -1: outside */
};

static int levels_of(const struct near_trees *trees)
{
    return trees->places == NULL ? 0 : trees->places->levels;
}

/* Of the units in a unit, the one in which a member is, counted from the first. */
static int index_in(const struct near_trees *trees, const struct unit *unit, int member)
{
    const int level = unit->level + 1;
    if (level == levels_of(trees))
        return member - unit->from;
    const int *group = trees->places->group[level];
    return group[member] - group[unit->from];
}

static struct layout lay_out(const struct near_trees *trees, const struct unit *unit)
{
    struct layout layout = {.units = index_in(trees, unit, unit->to - 1) + 1};
    const int others = layout.units - unit->rooted, most = others > 0 ? others - 1 : 0;
    for (int tree = 0; tree < 2; tree++) {
        layout.first[tree] = 1 + layout.before;
        layout.lead[tree] = unit->below[tree] < most - layout.before ? unit->below[tree] : most - layout.before;
        layout.before += layout.lead[tree];
    }
    layout.rest = others - layout.before;
    return layout;
}

static struct tree_place place_of(const struct layout *layout, int number, int tree)
{
    return two_trees_at(layout->rest + 1, number - layout->before, tree);
}

static bool comes_before(const struct layout *layout, int number, int tree)
{
    return number >= layout->first[tree] && number < layout->first[tree] + layout->lead[tree];
}

/* The places of the rest that have one below them less than they may: the first and the last or, of an odd number, twice the
   first. There the units that come before the other tree are leaves. */
static int holder_of(const struct layout *layout, int leaf, int tree)
{
    return layout->before + (layout->rest % 2 == 1 || (leaf == 0) == (tree == 1) ? 1 : layout->rest);
}

/* How many that come before the other tree, up to this one, a unit of the rest has below it. */
static int leaves_at(const struct layout *layout, int number, int upto, int tree)
{
    int leaves = 0;
    for (int leaf = 0; leaf < upto; leaf++)
        leaves += holder_of(layout, leaf, tree) == number;
    return leaves;
}

static int top_of(const struct layout *layout, int tree)
{
    return layout->before + two_trees_at(layout->rest + 1, 0, tree).children[0];
}

static int entry_of(const struct layout *layout, int tree)
{
    return layout->lead[tree] > 0 ? layout->first[tree] : top_of(layout, tree);
}

/* Those outside for which there is no unit that comes before: the rest is one unit then. */
static int left_over(const struct layout *layout, const struct unit *unit, int tree)
{
    return unit->below[tree] - layout->lead[tree];
}

static int below(const struct layout *layout, const struct unit *unit, int number, int tree)
{
    if (number == 0)
        return layout->rest > 0 ? 1 : unit->below[tree];
    if (number <= layout->before)
        return comes_before(layout, number, tree) ? 2 : 0;
    return left_over(layout, unit, tree) + place_of(layout, number, tree).count +
           leaves_at(layout, number, layout->lead[1 - tree], tree);
}

static struct next next_of(const struct layout *layout, const struct unit *unit, int number, int which, int tree)
{
    const int lead = number - layout->first[tree], left = left_over(layout, unit, tree);
    if (number == 0)
        return layout->rest > 0 ? (struct next){entry_of(layout, tree), 0} : (struct next){-1, which};
    if (number <= layout->before && which == 0)
        return (struct next){-1, lead};
    if (number <= layout->before)
        return (struct next){lead + 1 < layout->lead[tree] ? number + 1 : top_of(layout, tree), 0};
    if (which < left)
        return (struct next){-1, layout->lead[tree] + which};
    const struct tree_place at = place_of(layout, number, tree);
    if (which - left < at.count)
        return (struct next){layout->before + at.children[which - left], 0};
    int leaf = 0;
    while (leaves_at(layout, number, leaf + 1, tree) <= which - left - at.count)
        leaf++;
    return (struct next){layout->first[1 - tree] + leaf, 0};
}

/* Who hands on to a unit, and as the which-th; number -1: somebody outside. */
static struct next above(const struct layout *layout, const struct unit *unit, int number, int tree)
{
    const struct next from_outside = {unit->rooted ? 0 : -1, 0};
    if (number <= layout->before && comes_before(layout, number, tree))
        return number > layout->first[tree] ? (struct next){number - 1, 1} : from_outside;
    const int left = left_over(layout, unit, tree);
    if (number <= layout->before) {
        const int leaf = number - layout->first[1 - tree], holder = holder_of(layout, leaf, tree);
        return (struct next){holder,
                             left + place_of(layout, holder, tree).count + leaves_at(layout, holder, leaf, tree)};
    }
    const int parent = place_of(layout, number, tree).parent;
    if (parent == 0)
        return layout->lead[tree] > 0 ? (struct next){layout->first[tree] + layout->lead[tree] - 1, 1} : from_outside;
    const struct tree_place at = two_trees_at(layout->rest + 1, parent, tree);
    return (struct next){layout->before + parent, left + (at.children[0] != number - layout->before)};
}

/* The first member from `from` on whose group, at a level, is this one or a later one. */
static int first_of(const int *group, int from, int to, int number)
{
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (group[middle] < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct unit unit_of(const struct near_trees *trees, const struct unit *unit, const struct layout *layout,
                           int number)
{
    const int index = unit->rooted ? (number + index_in(trees, unit, trees->root)) % layout->units : number - 1;
    struct unit found = {.level = unit->level + 1, .from = unit->from + index, .rooted = unit->rooted && number == 0};
    found.to = found.from + 1;
    if (found.level < levels_of(trees)) {
        const int *group = trees->places->group[found.level], its = group[unit->from] + index;
        found.from = first_of(group, unit->from, unit->to, its);
        found.to = first_of(group, found.from, unit->to, its + 1);
    }
    for (int tree = 0; tree < 2; tree++)
        found.below[tree] = below(layout, unit, number, tree);
    return found;
}

static int number_of(const struct near_trees *trees, const struct unit *unit, const struct layout *layout, int member)
{
    const int index = index_in(trees, unit, member);
    return unit->rooted ? (index - index_in(trees, unit, trees->root) + layout->units) % layout->units : index + 1;
}

static bool is_member(const struct near_trees *trees, const struct unit *unit)
{
    return unit->level == levels_of(trees);
}

/* The member by which a unit is entered. */
static int entered_by(const struct near_trees *trees, struct unit unit, int tree)
{
    while (!is_member(trees, &unit)) {
        const struct layout layout = lay_out(trees, &unit);
        unit = unit_of(trees, &unit, &layout, entry_of(&layout, tree));
    }
    return unit.from;
}

/* The member that hands on to the `which`th outside. */
static int left_by(const struct near_trees *trees, struct unit unit, int which, int tree)
{
    while (!is_member(trees, &unit)) {
        const struct layout layout = lay_out(trees, &unit);
        int number = layout.rest > 0 ? layout.before + 1 : 0;
        if (which < layout.lead[tree]) {
            number = layout.first[tree] + which;
            which = 0;
        } else {
            which -= layout.lead[tree];
        }
        unit = unit_of(trees, &unit, &layout, number);
    }
    return unit.from;
}

static int levels_over(int size)
{
    int levels = 0;
    while (levels < 31 && 1 << levels < size)
        levels++;
    return levels;
}

int near_trees_depth(const struct places *places, int size)
{
    int depth = 0;
    for (int level = 0; places != NULL && level < places->levels; level++)
        depth += 2 * levels_over(places->widest[level]);
    depth += levels_over(places == NULL ? size : places->widest[places->levels]) - (places != NULL);
    return depth > levels_over(size) ? depth : levels_over(size);
}

struct tree_place near_trees_at(const struct near_trees *trees, int member, int tree)
{
    struct unit units[SWITCH_LEVELS + 2] = {{.level = -1, .to = trees->size, .rooted = true}};
    struct layout layouts[SWITCH_LEVELS + 1];
    int numbers[SWITCH_LEVELS + 1], depth = 0;
    for (; !is_member(trees, &units[depth]); depth++) {
        layouts[depth] = lay_out(trees, &units[depth]);
        numbers[depth] = number_of(trees, &units[depth], &layouts[depth], member);
        units[depth + 1] = unit_of(trees, &units[depth], &layouts[depth], numbers[depth]);
    }
    struct tree_place at = {.parent = -1, .count = units[depth].below[tree]};
    for (int i = 0; i < at.count; i++) {
        struct next next = {-1, i};
        for (int in = depth - 1; in >= 0 && next.number < 0; in--) {
            next = next_of(&layouts[in], &units[in], numbers[in], next.which, tree);
            if (next.number >= 0)
                at.children[i] = entered_by(trees, unit_of(trees, &units[in], &layouts[in], next.number), tree);
        }
    }
    struct next from = {-1, 0};
    for (int in = depth - 1; in >= 0 && from.number < 0 && member != trees->root; in--) {
        from = above(&layouts[in], &units[in], numbers[in], tree);
        if (from.number >= 0)
            at.parent = left_by(trees, unit_of(trees, &units[in], &layouts[in], from.number), from.which, tree);
    }
    return at;
}
