/* How ranks lie in the domains of a node: of machines that are sold, of pretended ones, and what is chosen among their depths. */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "reserve.h"

enum { MOST = 192 };
static int world[MOST], theirs[MOST];

/* The node's ranks, each bound to a core; `far` apart in the world. */
static void know(const struct bound *bound, int ranks, int far)
{
    levels_end();
    for (int i = 0; i < ranks; i++)
        world[i] = theirs[i] = 5 + far * i;
    CHECK(levels_know(world, bound, ranks));
}

static void expect_widest(const struct levels *levels, int outer, int inner, int widest)
{
    if (levels->widest[outer][inner] != widest)
        fprintf(stderr, "widest of depth %d in depth %d: %d\n", inner, outer, levels->widest[outer][inner]);
    CHECK(levels->widest[outer][inner] == widest);
}

/* 2 x 96 cores, four NUMA domains a socket, a cache of the last level for each eight cores, one a core below. */
static void test_epyc(void)
{
    struct bound bound[MOST];
    struct levels levels;
    for (int cpu = 0; cpu < MOST; cpu++)
        bound[cpu] = (struct bound){{cpu / 96, cpu / 24, cpu / 8 * 8, cpu}};
    know(bound, MOST, 3);
    levels_find_all(&levels);
    CHECK(levels.count == 3 && levels.widest[0][4] == MOST);
    levels_free(&levels);
    levels_find(&levels, theirs, MOST);
    CHECK(levels.count == 3 && levels.in_order);
    expect_widest(&levels, 0, 1, 2);
    expect_widest(&levels, 1, 2, 4);
    expect_widest(&levels, 2, 3, 3);
    expect_widest(&levels, 3, 4, 8);
    expect_widest(&levels, 0, 3, 24);
    expect_widest(&levels, 1, 4, 96);
    for (int depth = 0; depth <= 3; depth++)
        CHECK(levels.meet[depth] == depth);
    CHECK(levels_mate(&levels, MOST, 0) == 96 && levels_mate(&levels, MOST, 2) == 8);
    CHECK(levels_mate(&levels, MOST, 1) == 24 && levels_mate(&levels, MOST, 3) == 1);
    CHECK(levels.domain_of[2 * MOST + 17] == 2 && levels.domain_of[MOST + 100] == 4 && levels.domain_of[100] == 1);

    /* Where the next one costs as much as to meet, few levels; where meeting is all that costs, one; else what a cache has
       among themselves, then all caches. */
    double meet[] = {1, 1, 1, 1, 1};
    int chosen[DEPTHS];
    CHECK(levels_choose(&levels, meet, 0, chosen) == 4 && chosen[3] == 3);
    CHECK(levels_choose(&levels, meet, 1e-6, chosen) == 1 && chosen[0] == 0);
    CHECK(levels_choose(&levels, meet, 1, chosen) == 4);
    const double near[] = {2, 1, 1, 0.1, 0.1};
    CHECK(levels_choose(&levels, near, 0.05, chosen) == 2 && chosen[0] == 0 && chosen[1] == 3);
    levels_free(&levels);

    /* The ranks of one socket, from the last on; those of one cache; one of each cache; two. */
    for (int i = 0; i < 96; i++)
        theirs[i] = 5 + 3 * (191 - i);
    levels_find(&levels, theirs, 96);
    CHECK(levels.count == 2 && levels.in_order && levels.meet[0] == 1 && levels.meet[2] == 3);
    CHECK(levels.domain_of[95] == 3 && levels.domain_of[96 + 95] == 11);
    levels_free(&levels);
    levels_find(&levels, theirs, 8);
    CHECK(levels.count == 0 && levels.meet[0] == 3 && levels.domain_of == NULL);
    for (int i = 0; i < 24; i++)
        theirs[i] = 5 + 3 * 8 * (i % 2 == 0 ? i / 2 : 12 + i / 2);
    levels_find(&levels, theirs, 24);
    CHECK(levels.count == 2 && !levels.in_order && levels.meet[2] == 2);
    expect_widest(&levels, 2, 3, 3);
    levels_free(&levels);
    theirs[0] = 5, theirs[1] = 5 + 3;
    levels_find(&levels, theirs, 2);
    CHECK(levels.count == 0 && levels.meet[0] == 3 && levels_mate(&levels, 2, 0) == 1);
    levels_free(&levels);
}

/* Two sockets of 16 cores with a cache each that two NUMA domains share; two threads a core, one rank on each. */
static void test_xeon(void)
{
    struct bound bound[64];
    struct levels levels;
    for (int cpu = 0; cpu < 64; cpu++) {
        const int core = cpu % 32;
        bound[cpu] = (struct bound){{core / 16, core / 8, core / 16 * 16, core}};
    }
    know(bound, 64, 1);
    levels_find(&levels, theirs, 64);
    CHECK(levels.count == 3 && !levels.in_order);
    expect_widest(&levels, 0, 1, 2);
    expect_widest(&levels, 1, 2, 2);
    expect_widest(&levels, 2, 3, 8);
    expect_widest(&levels, 3, 4, 2);
    levels_free(&levels);

    bound[7].in[BY_SOCKET] = bound[7].in[BY_NUMA] = -1; /* one is bound to two sockets */
    bound[7].in[BY_CACHE] = bound[7].in[BY_INNER_CACHE] = -1;
    know(bound, 64, 1);
    levels_find(&levels, theirs, 64);
    CHECK(levels.count == 0 && levels.in_order);
    levels_free(&levels);
}

/* Whatever ranks are where: parts are in parts, and numbers go up by one. */
static void test_any(void)
{
    srandom(1);
    for (int turn = 0; turn < 2000; turn++) {
        struct bound bound[24];
        struct levels levels;
        const int ranks = 1 + (int)(random() % 24), within = 1 + (int)(random() % ranks);
        for (int i = 0; i < ranks; i++)
            for (int part = 0; part < DIVISIONS; part++)
                bound[i].in[part] = random() % 50 == 0 ? -1 : (int)(random() % (1 + turn % 7));
        know(bound, ranks, 2);
        for (int i = 0; i < within; i++) {
            const int other = i + (int)(random() % (ranks - i)), kept = theirs[i];
            theirs[i] = theirs[other], theirs[other] = kept;
        }
        levels_find(&levels, theirs, within);
        CHECK(levels.count >= 0 && levels.count <= LEVELS && levels.meet[0] <= LEVELS);
        for (int level = 0; level < levels.count; level++) {
            const int *at = levels.domain_of + level * within;
            int next = 0;
            for (int i = 0; i < within; i++) {
                CHECK(at[i] >= 0 && at[i] <= next);
                next += at[i] == next;
                for (int j = 0; level > 0 && j < i; j++)
                    CHECK(at[i] != at[j] || at[i - within] == at[j - within]);
            }
            CHECK(next > 1 && next < within && levels.meet[level + 1] > levels.meet[level]);
            CHECK(levels.widest[0][level + 1] == next);
        }
        levels_free(&levels);
    }
}

int main(void)
{
    CHECK(reserve_start(1));
    test_epyc();
    test_xeon();
    test_any();
    levels_end();
    return verdict();
}
