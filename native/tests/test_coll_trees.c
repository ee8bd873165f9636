/* Two trees over groups of members, over groups in these and over members: played through without MPI. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "group/near_trees.h"

enum { MOST = 400 };

/* Members in groups, and groups in these, drawn: what places_create() would say of them. */
struct drawn {
    struct places places;
    int group[SWITCH_LEVELS][MOST];
};

static void draw(struct drawn *drawn, unsigned *seed, int size, int levels)
{
    *drawn = (struct drawn){.places = {.nodes = size, .levels = levels}};
    for (int level = 0; level < levels; level++) {
        const int often = 1 + rand_r(seed) % (level == 0 ? 30 : 6);
        for (int i = 1; i < size; i++) {
            const bool cut = rand_r(seed) % often == 0 ||
                             (level > 0 && drawn->group[level - 1][i] != drawn->group[level - 1][i - 1]);
            drawn->group[level][i] = drawn->group[level][i - 1] + cut;
        }
        drawn->places.group[level] = drawn->group[level];
        drawn->places.groups[level] = drawn->group[level][size - 1] + 1;
    }
    for (int level = 0; level <= levels; level++)
        for (int i = 0, count = 0; i < size; i++) {
            if (i > 0 && level > 0 && drawn->group[level - 1][i] != drawn->group[level - 1][i - 1])
                count = 0;
            count += count == 0 || level == levels || drawn->group[level][i] != drawn->group[level][i - 1];
            drawn->places.widest[level] = count > drawn->places.widest[level] ? count : drawn->places.widest[level];
        }
}

static int levels_over(int size)
{
    int levels = 0;
    while (1 << levels < size)
        levels++;
    return levels;
}

/* What a path can pass at most: groups of each level one after the other, in each of them as many as lead to the second outside. */
static int longest(const struct places *places)
{
    int most = 0;
    for (int level = 0; level <= places->levels; level++)
        most += (levels_over(places->widest[level]) + 3) << (places->levels - level);
    return most;
}

/* Down a tree: everybody has it of its parent, and the parent of the root. Up: of everybody one number, and nobody's twice. */
static int play(const struct near_trees *trees, int tree, const struct tree_place *at)
{
    const int size = trees->size;
    int order[MOST] = {trees->root}, above[MOST] = {0}, count = 1, deepest = 0;
    int64_t sum[MOST], all = 0;
    for (int next = 0; next < count; next++)
        for (int i = 0; i < at[order[next]].count && count < size; i++) {
            const int child = at[order[next]].children[i];
            above[child] = above[order[next]] + 1;
            deepest = above[child] > deepest ? above[child] : deepest;
            order[count++] = child;
        }
    CHECK(count == size);
    for (int member = 0; member < size; member++)
        all += sum[member] = (int64_t)(member + 1) * (member + 1) + tree;
    for (int next = count - 1; next > 0; next--)
        sum[at[order[next]].parent] += sum[order[next]];
    CHECK(sum[trees->root] == all);
    return deepest;
}

/* Every group but the root's is entered once. */
static void enters_groups_once(const struct near_trees *trees, const struct tree_place *at)
{
    const struct places *places = trees->places;
    for (int level = 0; level < places->levels; level++) {
        const int *group = places->group[level];
        int entered[MOST] = {0};
        for (int member = 0; member < trees->size; member++)
            entered[group[member]] += member != trees->root && group[member] != group[at[member].parent];
        for (int i = 0; i < places->groups[level]; i++)
            CHECK(entered[i] == (i != group[trees->root]));
    }
}

/* Nobody has more than two children in both trees together; and who has some in both is the root, or one of a group. */
static void share_the_work(const struct near_trees *trees, struct tree_place at[2][MOST])
{
    int both = 0, groups = 1;
    for (int level = 0; level < trees->places->levels; level++)
        groups += trees->places->groups[level];
    for (int member = 0; member < trees->size; member++) {
        CHECK(at[0][member].count + at[1][member].count <= 2);
        both += member != trees->root && at[0][member].count > 0 && at[1][member].count > 0;
    }
    CHECK(both <= groups);
}

static void trees_go_over_groups(void)
{
    unsigned seed = 1;
    struct drawn drawn;
    for (int i = 0; i < 3000 && failures == 0; i++) {
        const int size = 1 + rand_r(&seed) % (i % 20 == 0 ? MOST : 40), levels = 1 + rand_r(&seed) % SWITCH_LEVELS;
        draw(&drawn, &seed, size, levels);
        const struct near_trees trees = {&drawn.places, size, rand_r(&seed) % size};
        struct tree_place at[2][MOST];
        for (int tree = 0; tree < 2; tree++) {
            int heard[MOST] = {0};
            for (int member = 0; member < size; member++)
                at[tree][member] = near_trees_at(&trees, member, tree);
            for (int member = 0; member < size; member++) {
                const struct tree_place *one = &at[tree][member];
                CHECK((one->parent < 0) == (member == trees.root) && one->parent < size);
                CHECK(one->count >= 0 && one->count <= 2);
                for (int child = 0; child < one->count; child++) {
                    CHECK(one->children[child] >= 0 && one->children[child] < size);
                    CHECK(at[tree][one->children[child]].parent == member);
                    heard[one->children[child]]++;
                }
            }
            for (int member = 0; member < size; member++)
                CHECK(heard[member] == (member != trees.root));
            if (failures == 0)
                CHECK(play(&trees, tree, at[tree]) <= longest(&drawn.places));
            enters_groups_once(&trees, at[tree]);
        }
        share_the_work(&trees, at);
    }
}

/* Members of one group, or of none: as two_trees.h has them. */
static void without_groups_nothing_changes(void)
{
    static const int one[MOST];
    const struct places places = {.levels = 1, .group = {one}, .groups = {1}};
    for (int size = 1; size <= 70; size++)
        for (int root = 0; root < size; root += 1 + size / 5)
            for (int tree = 0; tree < 2; tree++)
                for (int member = 0; member < size; member++) {
                    const struct near_trees trees = {NULL, size, root}, grouped = {&places, size, root};
                    const struct tree_place at = near_trees_at(&trees, member, tree),
                                            same = near_trees_at(&grouped, member, tree),
                                            flat = two_trees_at(size, (member - root + size) % size, tree);
                    CHECK(at.count == flat.count && at.parent == (flat.parent < 0 ? -1 : (flat.parent + root) % size));
                    for (int i = 0; i < flat.count; i++)
                        CHECK(at.children[i] == (flat.children[i] + root) % size);
                    CHECK(memcmp(&at, &same, sizeof at) == 0);
                }
}

int main(void)
{
    without_groups_nothing_changes();
    trees_go_over_groups();
    return verdict();
}
