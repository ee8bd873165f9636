/* Where nodes are, by switches: Slurm's texts, the order of nodes by their groups, and what schedules put between groups. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "places/places.h"
#include "reserve.h"
#include "places/switches.h"

enum { MOST = 48, TEXT = 4096 };

static const char tree[] = "# a cluster\n"
                           "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-3,10]\n"
                           "switchname=leaf2 \\\n  nodes=n[004-006],other.site\n"
                           "SwitchName=leaf3 Nodes=r[1-2]c[01-18]n7,%5\r\n"
                           "SwitchName=left Level=1 LinkSpeed=1 Nodes=n[1-99] Switches=leaf[1-2]\n"
                           "SwitchName=right Switches=leaf3\n"
                           "SwitchName=top Switches=left,right\n"
                           "taper 1.5\n";

static struct address find(const char *text, const char *host, int number)
{
    struct address address;
    double taper = 0;
    char reason[200] = "";
    CHECK(switches_read(text, host, number, &address, &taper, reason, sizeof reason));
    CHECK(reason[0] == '\0');
    return address;
}

/* At how many levels, from the outermost on, two hosts of the tree are in the same group; -1: one is not known. */
static int alike(const char *one, const char *other)
{
    struct address x = find(tree, one, -1), y = find(tree, other, -1);
    int levels = 0;
    while (levels < SWITCH_LEVELS && x.level[levels] == y.level[levels])
        levels++;
    return x.known && y.known ? levels : -1;
}

static void test_tree(void)
{
    double taper = TAPER;
    struct address address;
    char reason[200];
    CHECK(alike("n1", "n10") == 3 && alike("n3.cluster.example", "n1") == 3);
    CHECK(alike("n1", "n004") == 2 && alike("n005", "other.site") == 3 && alike("other", "n005") == -1);
    CHECK(alike("n1", "r2c18n7") == 1 && alike("r1c01n7", "r2c09n7") == 3);
    CHECK(alike("n1", "n4") == -1 && alike("n1", "n04") == -1 && alike("n1", "n01") == -1 && alike("n1", "n11") == -1);
    CHECK(alike("n1", "r3c01n7") == -1 && alike("n1", "r1c19n7") == -1 && alike("n1", "r1c1n7") == -1 &&
          alike("n1", "") == -1);
    CHECK(find(tree, "nobody", 5).known && !find(tree, "nobody", 4).known && !find(tree, "nobody", 55).known);
    CHECK(find(tree, "nobody", 5).level[2] == find(tree, "r1c01n7", 0).level[2]);
    CHECK(switches_read(tree, "n1", 0, &address, &taper, reason, sizeof reason) && taper == 1.5);
    CHECK(switches_are_in(tree) && switches_are_in("\n# x\n taper 2") &&
          !switches_are_in("extents 8 torus\nSwitchName=a"));
    CHECK(!switches_are_in("") && !switches_are_in("grid 2x2 torus"));
    CHECK(find("BlockName=b1 Nodes=m[1-2]\nBlockSizes=18\n", "m2", 0).known);
    /* Switches that contain one another have an end. */
    CHECK(find("SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\nSwitchName=c Switches=b", "n1", 0).known);
}

static void test_mistakes(void)
{
    static const struct {
        const char *text, *reason;
    } wrong[] = {
        {"SwitchName=a Nodes=n1\nextents", "line 2: expected words like"},
        {"SwitchName=a", "line 1: expected Nodes="},
        {"SwitchName= Nodes=n1", "line 1: expected a name"},
        {"\nNodes=n1", "line 2: expected SwitchName"},
        {"SwitchName=a \\\n Nodes=n1\nSwitchName=b Nodes=n[1", "line 3: expected names"},
        {"SwitchName=a Nodes=n[3-1]", "line 1: expected names"},
        {"SwitchName=a Nodes=n[1,]", "line 1: expected names"},
        {"SwitchName=a Nodes=n[]", "line 1: expected names"},
        {"SwitchName=a Nodes=n]", "line 1: expected names"},
        {"SwitchName=a Nodes=n1,", "line 1: expected names"},
        {"SwitchName=a Nodes=,n1", "line 1: expected names"},
        {"SwitchName=a Nodes=a[1][1][1][1]", "line 1: expected names"},
        {"SwitchName=a Switches=s[1-x]", "line 1: expected names"},
        {"taper 0.5", "line 1: expected a taper"},
        {"taper 2,5", "line 1: expected a taper"},
        {"taper", "line 1: expected `taper` and a number"},
        {"taper 2 3", "line 1: expected words like"},
        {"LinkSpeed=3", "it names no switches"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct address address;
        double taper = TAPER;
        char reason[200] = "";
        CHECK(!switches_read(wrong[i].text, "n1", 0, &address, &taper, reason, sizeof reason));
        CHECK(strncmp(reason, wrong[i].reason, strlen(wrong[i].reason)) == 0);
    }
}

static void test_job(void)
{
    struct address one = switches_of_job("top.left.leaf1.n1", "switch.switch.switch.node", "n1");
    struct address same = switches_of_job("top.left.leaf1.n2", "switch.switch.switch.node", "n2.cluster");
    struct address other = switches_of_job("top.left.leaf2.n3", "switch.switch.switch.node", "n3");
    struct address far = switches_of_job("top.right.leaf1.n4", "switch.switch.switch.node", "n4");
    CHECK(one.known && memcmp(&one, &same, sizeof one) == 0);
    CHECK(other.known && other.level[1] == one.level[1] && other.level[2] != one.level[2]);
    CHECK(far.known && far.level[0] == one.level[0] && far.level[1] != one.level[1] && far.level[2] != one.level[2]);
    /* Another node's variables, handed on; no switches; what does not belong together. */
    CHECK(!switches_of_job("top.leaf1.n1", "switch.switch.node", "n2").known);
    CHECK(!switches_of_job("n1", "node", "n1").known);
    CHECK(!switches_of_job("top.n1", "switch.switch", "n1").known && !switches_of_job("", "", "n1").known);
    CHECK(!switches_of_job("a.n[1]", "switch.node", "n1").known &&
          !switches_of_job("a.n1", "switch.node.node", "n1").known);
}

/* A list of ranges has exactly the names that it stands for. */
static void test_ranges(unsigned *seed)
{
    char text[TEXT] = "SwitchName=s Nodes=x[", host[32];
    bool expected[1200] = {false}, padded = rand_r(seed) % 2 == 0;
    for (int i = 0; i < 4; i++) {
        int from = rand_r(seed) % 1100, to = from + rand_r(seed) % 100;
        sprintf(text + strlen(text), padded ? "%s%04d-%04d" : "%s%d-%d", i > 0 ? "," : "", from, to);
        for (int number = from; number <= to; number++)
            expected[number] = true;
    }
    strcat(text, "]-y");
    for (int number = 0; number < 1200; number++) {
        sprintf(host, padded ? "x%04d-y" : "x%d-y", number);
        CHECK(find(text, host, -1).known == expected[number]);
        sprintf(host, padded ? "x%05d-y" : "x0%d-y", number);
        CHECK(!find(text, host, -1).known);
    }
}

/* Nodes in groups by one or two levels; NULL where they are all in one. */
static struct places *draw(unsigned *seed, struct address *addresses, int nodes, int levels, int groups)
{
    for (int node = 0; node < nodes; node++) {
        addresses[node] = (struct address){.known = true};
        for (int level = 0; level < SWITCH_LEVELS; level++)
            addresses[node].level[level] = level < levels ? (level == 0 ? 0 : addresses[node].level[level - 1]) * 7 +
                                                                (unsigned)rand_r(seed) % (unsigned)groups
                                                          : addresses[node].level[level - 1];
    }
    return places_create(addresses, nodes, TAPER);
}

static bool same_group(const struct address *addresses, int level, int one, int other)
{
    bool same = true;
    for (int i = 0; i <= level; i++)
        same = same && addresses[one].level[i] == addresses[other].level[i];
    return same;
}

static void test_order(unsigned *seed)
{
    struct address addresses[MOST];
    int nodes = 2 + rand_r(seed) % (MOST - 2);
    struct places *places = draw(seed, addresses, nodes, 1 + rand_r(seed) % 2, 1 + rand_r(seed) % 4);
    bool several = false;
    for (int node = 0; node < nodes; node++)
        several = several || !same_group(addresses, SWITCH_LEVELS - 1, 0, node);
    CHECK((places != NULL) == several);
    if (places == NULL)
        return;
    bool in_order = true;
    CHECK(places->nodes == nodes && places->node[0] == 0 && places->levels >= 1);
    for (int i = 0; i < nodes; i++) {
        CHECK(places->node[i] >= 0 && places->node[i] < nodes && places->place[places->node[i]] == i);
        in_order = in_order && places->node[i] == i;
    }
    CHECK(in_order == places->in_order);
    for (int level = 0; level < places->levels; level++) {
        const int *group = places->group[level];
        CHECK(group[0] == 0 && group[nodes - 1] == places->groups[level] - 1 && places->groups[level] > 1);
        for (int i = 1; i < nodes; i++) {
            CHECK(group[i] == group[i - 1] || group[i] == group[i - 1] + 1);
            if (group[i] == group[i - 1]) /* within a group in order of the nodes, but for groups within it */
                CHECK(level + 1 < places->levels || places->node[i] > places->node[i - 1]);
        }
    }
    const int *inner = places->group[places->levels - 1];
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < nodes; j++)
            CHECK((inner[i] == inner[j]) == same_group(addresses, SWITCH_LEVELS - 1, places->node[i], places->node[j]));
    places_free(places);
}

static bool near(double one, double other)
{
    return fabs(one - other) <= 1e-9 * (1 + fabs(other));
}

/* Against what is known without counting. */
static void test_crossing(unsigned *seed)
{
    struct address addresses[MOST];
    int nodes = 2 + rand_r(seed) % (MOST - 2);
    struct places *places = draw(seed, addresses, nodes, 1, 2 + rand_r(seed) % 4);
    if (places == NULL)
        return;
    double groups = places->groups[0], pairs = 0, n = nodes;
    int cuts = 0;
    for (int i = 0; i < nodes; i++) {
        cuts += i > 0 && !same_group(addresses, 0, i - 1, i);
        for (int j = 0; j < nodes; j++)
            pairs += !same_group(addresses, 0, i, j);
    }
    CHECK(near(crossing_of(places, CROSSING_CHAIN, true).total, groups - 1));
    CHECK(near(crossing_of(places, CROSSING_CHAIN, false).total, cuts));
    CHECK(near(crossing_of(places, CROSSING_NEAR_TREES, true).total, groups - 1));
    CHECK(near(crossing_of(places, CROSSING_LINE, true).total, 2 * (groups - 1)));
    CHECK(near(crossing_of(places, CROSSING_RING, true).total, groups * (n - 1) / n));
    CHECK(near(crossing_of(places, CROSSING_PAIRS, true).total, pairs / n));
    CHECK(near(crossing_of(places, CROSSING_PAIRS, false).total, pairs / n));
    for (int kind = 0; kind < CROSSING_KINDS; kind++) {
        struct crossing crossing = crossing_of(places, (enum crossing_kind)kind, true), again;
        again = crossing_of(places, (enum crossing_kind)kind, true);
        CHECK(crossing.total == again.total && crossing.fullest == again.fullest);
        /* Each of the other groups must be told something; some group has its share of it, and none more than all. */
        CHECK(crossing.total > 0 && crossing.fullest > 0 && crossing.fullest <= crossing.total);
        CHECK(crossing.fullest * n >= crossing.total * (1 - 1e-9));
    }
    static const enum crossing_kind trees[] = {CROSSING_TREE,      CROSSING_TREE_4,    CROSSING_TREE_DOUBLING,
                                               CROSSING_BINARY,    CROSSING_CHAIN,     CROSSING_BINE_TREE,
                                               CROSSING_TWO_TREES, CROSSING_NEAR_TREES};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) { /* every node gets it once */
        double total = crossing_of(places, trees[i], false).total;
        CHECK(total >= groups - 1 && total <= n - 1);
    }
    CHECK(crossing_of(NULL, CROSSING_RING, true).total == 0);
    places_free(places);
}

/* Groups of four of sixteen nodes: what papers and a pencil say. */
static void test_sixteen(void)
{
    struct address addresses[16];
    for (int node = 0; node < 16; node++)
        addresses[node] = (struct address){true, {(unsigned)node / 4, (unsigned)node / 4, (unsigned)node / 4}};
    struct places *places = places_create(addresses, 16, TAPER);
    CHECK(places != NULL && places->levels == 1 && places->in_order);
    CHECK(near(crossing_of(places, CROSSING_TREE, true).total, 3));
    CHECK(near(crossing_of(places, CROSSING_TREE_DOUBLING, true).total, 12));
    CHECK(near(crossing_of(places, CROSSING_DOUBLING, true).total, 32));
    CHECK(near(crossing_of(places, CROSSING_HALVING, true).total, 16 * 2 * (1. / 8 + 1. / 16)));
    CHECK(near(crossing_of(places, CROSSING_HALVING_FAR, true).total, 16 * (1. / 2 + 1. / 4)));
    CHECK(near(crossing_of(places, CROSSING_HALVING_FAR_BACK, true).total, 2 * 16 * (1. / 2 + 1. / 4)));
    CHECK(near(crossing_of(places, CROSSING_DOUBLING, true).fullest, 2));
    CHECK(near(crossing_of(places, CROSSING_RING, true).fullest, 15. / 16 / 4));
    /* Bine butterflies: 12 of 16 pairs cross at the distance 3, and all at 5 but for none, and so on: by hand. */
    int cross[4] = {0};
    for (int step = 0, distance[] = {1, -1, 3, -5}; step < 4; step++)
        for (int node = 0; node < 16; node++)
            cross[step] += node / 4 != (node + (node % 2 == 0 ? 1 : -1) * distance[step] + 16) % 16 / 4;
    CHECK(near(crossing_of(places, CROSSING_BINE, true).total,
               cross[0] / 2. + cross[1] / 4. + cross[2] / 8. + cross[3] / 16.));
    places_free(places);
}

int main(void)
{
    unsigned seed = 1;
    CHECK(reserve_start(1));
    test_tree();
    test_mistakes();
    test_job();
    for (int i = 0; i < 20; i++)
        test_ranges(&seed);
    for (int i = 0; i < 2000; i++) {
        test_order(&seed);
        test_crossing(&seed);
    }
    test_sixteen();
    return verdict();
}
