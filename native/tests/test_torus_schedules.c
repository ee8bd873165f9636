/* The trees and the orders: everybody gets everything exactly once, and what the links carry. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "torus_links.h"
#include "torus/spread.h"
#include "torus/trees.h"

enum { MOST = 1024 };

static const struct torus boxes[] = {
    {1, {5}, {true}},
    {1, {2}, {true}},
    {2, {3, 4}, {true, true}},
    {3, {3, 3, 3}, {true, true, true}},
    {3, {8, 8, 6}, {true, true, true}},
    {3, {4, 3, 5}, {true, true, true}},
    {3, {2, 6, 3}, {true, true, true}},
    {4, {3, 4, 3, 5}, {true, true, true, true}},
    {3, {4, 3, 5}, {true, false, true}},
    {2, {7, 2}, {false, false}},
    {0, {0}, {0}},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

static int edges_to(const struct torus *torus, int tree, int root, int place)
{
    int edges = 0;
    for (; place != root && edges <= MOST; edges++)
        place = tree < 0 ? short_tree_parent(torus, root, place) : tree_parent(torus, tree, root, place);
    return edges;
}

/* Every place but the root is the child of one other, the root of none, and all hang together. */
static void test_tree(const struct torus *torus, int tree, int root)
{
    int places = torus_places(torus), seen[MOST] = {0}, children[TREE_CHILDREN];
    int depth = tree < 0 ? short_tree_depth(torus) : trees_depth(torus);
    for (int place = 0; place < places; place++) {
        int count = tree < 0 ? short_tree_children(torus, root, place, children)
                             : tree_children(torus, tree, root, place, children);
        for (int i = 0; i < count; i++) {
            seen[children[i]]++;
            CHECK((tree < 0 ? short_tree_parent(torus, root, children[i])
                            : tree_parent(torus, tree, root, children[i])) == place);
        }
        CHECK(edges_to(torus, tree, root, place) <= depth);
    }
    for (int place = 0; place < places; place++)
        CHECK(seen[place] == (place != root));
}

/* Together, the link trees use every link once at most, where the extents are large enough to tell up from down. */
static void test_disjoint(const struct torus *torus, int root)
{
    static int64_t load[MOST * TORUS_MOST * 2];
    memset(load, 0, sizeof load);
    bool large = torus_wraps(torus);
    for (int d = 0; d < torus->dimensions; d++)
        large = large && torus->extent[d] > 2;
    for (int tree = 0; tree < trees_count(torus); tree++)
        for (int place = 0; place < torus_places(torus); place++)
            if (place != root)
                send_over(torus, tree_parent(torus, tree, root, place), place, 1, load);
    if (large && torus->dimensions > 0)
        CHECK(highest_load(torus, load) == 1);
}

static void test_orders(const struct torus *torus)
{
    int places = torus_places(torus), offsets[2][MOST], seen[2][MOST] = {{0}};
    spread_order(torus, offsets[0]);
    spread_order_double(torus, offsets[1]);
    for (int i = 0; i < places - 1; i++) {
        seen[0][offsets[0][i]]++;
        seen[1][offsets[1][i]]++;
        CHECK(i == 0 || torus_hops(torus, offsets[0][i]) >= torus_hops(torus, offsets[0][i - 1]));
    }
    for (int offset = 0; offset < places; offset++)
        CHECK(seen[0][offset] == (offset > 0) && seen[1][offset] == (offset > 0));
    for (int i = 0; i < places - 1; i++) {
        int opposite = torus_add(torus, 0, offsets[1][i], -1);
        CHECK(opposite == offsets[1][i] || (i > 0 && offsets[1][i - 1] == opposite) ||
              (i + 1 < places - 1 && offsets[1][i + 1] == opposite));
    }
}

/* Everything that place `from` sends, as halves of blocks: who has them at the end, and what the links carried. */
static int64_t balanced_load(const struct torus *torus, bool balance, int *arrived)
{
    static int64_t load[MOST * TORUS_MOST * 2];
    struct spread_relayed relayed[SPREAD_PARTS];
    int places = torus_places(torus);
    memset(load, 0, sizeof load);
    for (int from = 0; from < places; from++)
        for (int offset = 1; offset < places; offset++) {
            int to = torus_add(torus, from, offset, 1), halves = 2, half;
            if (balance && spread_halfway(torus, offset) != 0)
                continue;
            if (from == 0)
                arrived[offset] += 2;
            unsigned bundle = balance ? spread_bundle(torus, offset, &half) : 0;
            for (int other = 1; bundle != 0 && other < places; other++)
                halves += spread_halfway(torus, other) == bundle;
            int relays = balance ? spread_relayed(torus, offset, relayed) : 0;
            halves += relays;
            for (int i = 0; i < relays; i++) {
                CHECK(spread_bundle(torus, torus_add(torus, 0, relayed[i].from, -1), &half) ==
                          spread_halfway(torus, relayed[i].offset) &&
                      half == relayed[i].half);
                if (torus_add(torus, from, relayed[i].from, 1) == 0) /* a block of place 0 */
                    arrived[relayed[i].offset] += to == relayed[i].offset;
            }
            send_over(torus, from, to, halves, load);
        }
    return highest_load(torus, load);
}

static void test_balance(const struct torus *torus)
{
    int arrived[MOST] = {0}, straight[MOST] = {0}, longest = 0;
    int64_t places = torus_places(torus), with = balanced_load(torus, true, arrived);
    int64_t without = balanced_load(torus, false, straight);
    CHECK(with <= without);
    for (int offset = 1; offset < places; offset++)
        CHECK(arrived[offset] == 2 && straight[offset] == 2);
    CHECK(places == 1 || torus->extent[0] != 8 || without * 4 == with * 5); /* 80 % of the bound: half-way is one way */
    bool even = places > 1 && torus_wraps(torus);
    for (int d = 0; d < torus->dimensions; d++) {
        longest = torus->extent[d] > longest ? torus->extent[d] : longest;
        even = even && torus->extent[d] % 2 == 0 && torus->extent[d] >= 6;
    }
    if (even) /* the bisection bound: places * L / 8 blocks of two halves over a link */
        CHECK(with == 2 * places * longest / 8);
}

int main(void)
{
    for (int i = 0; i < BOXES; i++) {
        int places = torus_places(&boxes[i]);
        for (int root = 0; root < places; root += 1 + places / 5) {
            for (int tree = -1; tree < trees_count(&boxes[i]); tree++)
                test_tree(&boxes[i], tree, root);
            test_disjoint(&boxes[i], root);
        }
        test_orders(&boxes[i]);
        test_balance(&boxes[i]);
    }
    CHECK(trees_count(&boxes[4]) == 6 && trees_depth(&boxes[4]) == 20 && short_tree_depth(&boxes[4]) == 9);
    return verdict();
}
