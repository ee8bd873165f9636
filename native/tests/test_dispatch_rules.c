/* Rules files: what they mean, what is said of bad ones, and that no text at all does harm. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "choice.h"

static bool parse(struct rules *rules, const char *text, int *line, struct problem *problem)
{
    *problem = (struct problem){""};
    return rules_parse(rules, text, strlen(text), line, problem);
}

static void good(void)
{
    struct rules rules;
    struct problem problem;
    int line;
    CHECK(parse(&rules,
                "\n# a comment\nunisono-rules 1 # version\n\ncost node_latency 1e-7 node_byte 1e-10 "
                "fabric_latency 2e-6 fabric_byte 1e-10\r\n"
                "bcast 1 2 0 4095 unisono/cells,mpi\n  allreduce * * 8 max tuned/ring:65536,han\n"
                "bcast 384@8x8x6 16 0 max mpi\nibcast * * 65536 max libnbc/chain,mpi\n"
                "reduce_scatter_block_init 1 * 0 max unisono/posted,libnbc/none",
                &line, &problem));
    CHECK(rules.count == 5 && rules.has_costs && rules.costs.fabric_latency == 2e-6);
    CHECK(rules.costs.fabric_message == rules.costs.fabric_latency / 10); /* nobody measured it */
    const struct rule *one = &rules.rule[0], *two = &rules.rule[1], *three = &rules.rule[2];
    CHECK(one->collective == COLL_BCAST && one->nodes == 1 && one->ppn == 2 && one->from == 0 && one->to == 4095);
    CHECK(one->count == 2 && one->implementation[0]->kind == BY_OURS && one->implementation[1]->kind == BY_MPI);
    CHECK(strcmp(one->implementation[0]->algorithm->name, "bcast_cells") == 0);
    CHECK(two->nodes == ANY && two->ppn == ANY && two->from == 8 && two->to == INT64_MAX);
    CHECK(two->implementation[0]->kind == BY_TUNED && two->implementation[0]->segment == 65536);
    CHECK(strcmp(two->implementation[0]->name, "ring") == 0 && two->implementation[1]->kind == BY_COMPONENT);
    const struct implementation *four = rules.rule[3].implementation[0];
    CHECK(four->kind == BY_LIBNBC && strcmp(four->name, "chain") == 0 && four->number == 0); /* nobody has looked */
    const struct implementation *const *five = rules.rule[4].implementation; /* of the nonblocking form's algorithms */
    CHECK(rules.rule[4].collective == COLL_REDUCE_SCATTER_BLOCK_INIT);
    CHECK(five[0]->kind == BY_OURS && five[0]->algorithm->collective == COLL_IREDUCE_SCATTER_BLOCK);
    CHECK(five[1]->kind == BY_LIBNBC && five[1]->collective == COLL_REDUCE_SCATTER_BLOCK_INIT);
    CHECK(three->nodes == 384 && three->dimensions == 3 && three->extent[2] == 6);
    rules_free(&rules);
    CHECK(parse(&rules,
                "unisono-rules 1\ncost fabric_message 3e-7 node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 "
                "fabric_byte 1e-10",
                &line, &problem));
    CHECK(rules.has_costs && rules.costs.fabric_message == 3e-7 && rules.costs.fabric_byte == 1e-10);
    rules_free(&rules);
    CHECK(parse(&rules, "unisono-rules 1", &line, &problem) && rules.count == 0 && !rules.has_costs);
    rules_free(&rules);
    CHECK(parse(&rules, "unisono-rules 1\nbcast 8@2x1x4 1 0 max mpi", &line, &problem));
    CHECK(rules.rule[0].dimensions == 2 && rules.rule[0].extent[0] == 2 && rules.rule[0].extent[1] == 4);
    rules_free(&rules);
}

static void bad(void)
{
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        {"", 1, "first line"},
        {"bcast 1 2 0 max mpi\n", 1, "first line"},
        {"unisono-rules 2\n", 1, "first line"},
        {"unisono-rules 1\nbcast 1 2 0 max\n", 2, "a rule is"},
        {"unisono-rules 1\n\npingpong 1 2 0 max mpi\n", 3, "'pingpong'"},
        {"unisono-rules 1\nbcast 0 2 0 max mpi\n", 2, "number of nodes"},
        {"unisono-rules 1\nbcast -1 2 0 max mpi\n", 2, "number of nodes"},
        {"unisono-rules 1\nbcast 1 two 0 max mpi\n", 2, "ranks a node"},
        {"unisono-rules 1\nbcast 1 2 -5 max mpi\n", 2, "'-5'"},
        {"unisono-rules 1\nbcast 1 2 0 99999999999999999999 mpi\n", 2, "'99999999999999999999'"},
        {"unisono-rules 1\nbcast 1 2 10 9 mpi\n", 2, "from 10 to 9"},
        {"unisono-rules 1\nbcast 1 2 0 max unisono/nope\n", 2, "no algorithm 'unisono/nope'"},
        {"unisono-rules 1\nbcast 1 2 0 max unisono/inline:0\n", 2, "segment"},
        {"unisono-rules 1\nbcast 1 2 0 max tuned/ring:1k\n", 2, "segment"},
        {"unisono-rules 1\nbcast 1 2 0 max mpi,,mpi\n", 2, "'' is not"},
        {"unisono-rules 1\nbcast 1 2 0 max unisono/chain|\n", 2, "'' is not"},
        {"unisono-rules 1\nbcast 1 2 0 max libnbc/chain\n", 2, "bcast blocks"},
        {"unisono-rules 1\nibcast 1 2 0 max libnbc/chain:4096\n", 2, "segments"},
        {"unisono-rules 1\nbcast_init 1 2 0 max unisono/cells\n", 2, "'unisono/cells' for bcast_init"},
        {"unisono-rules 1\nbcast 1 2 0 max HAN\n", 2, "'HAN'"},
        {"unisono-rules 1\nbcast 384@8x8x5 16 0 max mpi\n", 2, "box of 384"},
        {"unisono-rules 1\nbcast 8@2x2x 16 0 max mpi\n", 2, "box"},
        {"unisono-rules 1\nbcast *@2x2 16 0 max mpi\n", 2, "box"},
        {"unisono-rules 1\nbcast 1 2 0 max mpi mpi\n", 2, "a rule is"},
        {"unisono-rules 1\ncost node_latency 1\n", 2, "costs are"},
        {"unisono-rules 1\ncost node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message 0\n",
         2, "costs are"},
        {"unisono-rules 1\nreproducible\n", 2, "runs, placement or ranks"},
        {"unisono-rules 1\nreproducible always\n", 2, "runs, placement or ranks"},
        {"unisono-rules 1\ncost node_latency x node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10\n", 2,
         "costs are"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules rules;
        struct problem problem;
        int line;
        bool read = parse(&rules, cases[i].text, &line, &problem);
        if (read || line != cases[i].line || strstr(problem.text, cases[i].says) == NULL)
            fprintf(stderr, "%s -> %d: %s\n", cases[i].text, line, problem.text);
        CHECK(!read && line == cases[i].line && strstr(problem.text, cases[i].says) != NULL && rules.rule == NULL);
    }
}

/* Nothing limits a comment: what a plan gains for all collectives is long. */
static void long_lines(void)
{
    enum { LONG = 3000 };
    static char text[2 * LONG];
    struct rules rules;
    struct problem problem;
    int line;
    int length = snprintf(text, sizeof text, "unisono-rules 1\nbcast 1 2 0 max mpi # ");
    memset(text + length, 'x', LONG);
    snprintf(text + length + LONG, sizeof text - LONG - (size_t)length, "\nreduce 1 2 0 max mpi\n");
    CHECK(parse(&rules, text, &line, &problem) && rules.count == 2);
    rules_free(&rules);
    text[length - 2] = ' ';
    CHECK(!parse(&rules, text, &line, &problem) && line == 2 && strstr(problem.text, "at most 1023 bytes") != NULL);
}

static void forced(void)
{
    struct rules rules;
    struct problem problem = {""};
    CHECK(rules_parse_forced(&rules, "bcast=unisono/cells,allreduce=mpi", &problem) && rules.count == 2);
    CHECK(rules.rule[1].collective == COLL_ALLREDUCE && rules.rule[1].implementation[0]->kind == BY_MPI);
    rules_free(&rules);
    static const char *const wrong[] = {"bcast", "bcast=", "=mpi", "pingpong=mpi", "bcast=mpi,,", "bcast=unisono/nope"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        problem = (struct problem){""};
        CHECK(!rules_parse_forced(&rules, wrong[i], &problem) && problem_any(&problem));
    }
    problem = (struct problem){""};
    CHECK(!rules_parse_forced(&rules, "bcast\n\x1b[2J=mpi", &problem));
    CHECK(strcmp(problem.text, "'bcast??[2J=mpi' is not COLLECTIVE=IMPLEMENTATION") == 0);
}

/* What a size gets at a place, as words. */
static const char *at(const struct rules *rules, int nodes, int ppn, int64_t bytes)
{
    struct choice choice;
    struct place place = {.nodes = nodes, .ppn = ppn};
    if (nodes == 8) {
        place.dimensions = 2;
        place.extent[0] = 4, place.extent[1] = 2;
    }
    choice_from_rules(&choice, rules, COLL_BCAST, &place, NULL, false);
    const struct range *range = choice_at(&choice, bytes);
    const char *word = range == NULL ? "nothing" : range->implementation[0]->word;
    choice_free(&choice);
    return word;
}

static void choosing(void)
{
    struct rules rules;
    struct problem problem;
    int line;
    CHECK(parse(&rules,
                "unisono-rules 1\n"
                "bcast * * 0 max unisono/inline\n"
                "bcast 4 * 100 199 tuned/one\n"
                "bcast 4 2 150 160 tuned/two\n"
                "bcast 4 2 155 170 tuned/three\n"
                "bcast * 2 0 99 tuned/four\n"
                "bcast 8 * 0 max tuned/five\n"
                "bcast 8@4x2 * 50 max tuned/six\n"
                "bcast 8@2x4 * 0 max tuned/seven\n"
                "allreduce * * 0 max tuned/eight\n",
                &line, &problem));
    CHECK(strcmp(at(&rules, 1, 1, 0), "unisono/inline") == 0);
    CHECK(strcmp(at(&rules, 1, 1, INT64_MAX), "unisono/inline") == 0);
    CHECK(strcmp(at(&rules, 4, 3, 99), "unisono/inline") == 0 && strcmp(at(&rules, 4, 3, 100), "tuned/one") == 0);
    CHECK(strcmp(at(&rules, 4, 3, 199), "tuned/one") == 0 && strcmp(at(&rules, 4, 3, 200), "unisono/inline") == 0);
    CHECK(strcmp(at(&rules, 4, 2, 99), "tuned/four") == 0 && strcmp(at(&rules, 4, 2, 149), "tuned/one") == 0);
    CHECK(strcmp(at(&rules, 4, 2, 150), "tuned/two") == 0 && strcmp(at(&rules, 4, 2, 160), "tuned/two") == 0);
    CHECK(strcmp(at(&rules, 4, 2, 161), "tuned/three") == 0 && strcmp(at(&rules, 4, 2, 171), "tuned/one") == 0);
    CHECK(strcmp(at(&rules, 8, 2, 49), "tuned/five") == 0 && strcmp(at(&rules, 8, 2, 50), "tuned/six") == 0);
    rules_free(&rules);
    CHECK(parse(&rules, "unisono-rules 1\nbcast 1 2 0 10 mpi\nbcast 1 2 20 30 mpi,unisono/inline\n", &line, &problem));
    CHECK(strcmp(at(&rules, 1, 2, 5), "nothing") == 0 && strcmp(at(&rules, 1, 2, 25), "nothing") == 0);
    rules_free(&rules);
}

/* Where no rule is, another choice's ranges. */
static void gaps(void)
{
    struct rules rules;
    struct problem problem;
    struct choice choice;
    int line;
    CHECK(parse(&rules, "unisono-rules 1\nbcast 1 2 10 19 tuned/one\nbcast 1 2 50 59 mpi\n", &line, &problem));
    const struct implementation *two = implementation_find(COLL_BCAST, "tuned/two", 9, &problem);
    const struct implementation *three = implementation_find(COLL_BCAST, "tuned/three", 11, &problem);
    struct range all[] = {{15, 1, {two}}, {INT64_MAX, 2, {three, two}}};
    const struct choice others = {2, all};
    choice_from_rules(&choice, &rules, COLL_BCAST, &(struct place){.nodes = 1, .ppn = 2}, &others, false);
    static const struct {
        int64_t bytes;
        const char *word;
    } expected[] = {{9, "tuned/two"},    {10, "tuned/one"},   {19, "tuned/one"},
                    {20, "tuned/three"}, {49, "tuned/three"}, {50, "mpi"},
                    {59, "mpi"},         {60, "tuned/three"}, {INT64_MAX, "tuned/three"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK(strcmp(choice_at(&choice, expected[i].bytes)->implementation[0]->word, expected[i].word) == 0);
    CHECK(choice.count == 5 && choice_at(&choice, 20)->count == 2);
    choice_free(&choice);
    rules_free(&rules);
}

/* Of four nodes, of which every other one is in the same group, or which are all in one. */
static const char *where_groups(const char *rule, bool grouped, bool ordered)
{
    struct rules rules;
    struct problem problem;
    struct choice choice;
    struct address addresses[4];
    char text[200];
    int line;
    for (int node = 0; node < 4; node++) {
        const uint64_t group = grouped ? (uint64_t)(node % 2) : 0;
        addresses[node] = (struct address){true, {group, group, group}};
    }
    struct places *places = places_create(addresses, 4, TAPER);
    CHECK((places != NULL) == grouped);
    const struct topology topology = {.ranks = 8, .nodes = 4, .most = 2, .places = places};
    const struct place place = {.nodes = 4, .ppn = 2, .topology = &topology};
    snprintf(text, sizeof text, "unisono-rules 1\nallreduce 4 2 0 max %s\n", rule);
    CHECK(parse(&rules, text, &line, &problem));
    choice_from_rules(&choice, &rules, COLL_ALLREDUCE, &place, NULL, ordered);
    const struct range *range = choice_at(&choice, 1000);
    const char *word = range == NULL ? "nothing" : range->implementation[0]->word;
    choice_free(&choice);
    rules_free(&rules);
    places_free(places);
    return word;
}

/* Of what is equally fast, the one that puts fewer bytes between groups: 2 times the vector along a chain and back, 3 times it
 * around a ring, 4 times it where partners are doubled. */
static void as_fast(void)
{
    static const struct {
        const char *rule, *plain, *grouped;
    } cases[] = {
        {"unisono/ring|unisono/chain", "unisono/ring", "unisono/chain"},
        {"unisono/chain|unisono/ring", "unisono/chain", "unisono/chain"},
        {"unisono/ring,unisono/chain", "unisono/ring", "unisono/ring"},
        {"unisono/leader|unisono/ring|unisono/chain,mpi", "unisono/leader", "unisono/chain"},
        {"unisono/leader|unisono/ring,unisono/chain", "unisono/leader", "unisono/ring"},
        {"han,unisono/ring|unisono/chain", "han", "han"},
        {"unisono/flat_ring|unisono/chain", "unisono/flat_ring", "unisono/flat_ring"}, /* not counted */
        {"unisono/ring|unisono/flat_ring", "unisono/ring", "unisono/ring"},
        {"unisono/ring|mpi", "unisono/ring", "unisono/ring"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(strcmp(where_groups(cases[i].rule, false, false), cases[i].plain) == 0);
        CHECK(strcmp(where_groups(cases[i].rule, true, false), cases[i].grouped) == 0);
    }
    /* What keeps no order is left out before. */
    CHECK(strcmp(where_groups("unisono/ring|unisono/chain,unisono/flat_ordered", true, true), "unisono/flat_ordered") ==
          0);
}

/* Every size, compared with looking at all rules in turn. */
static void ranges(void)
{
    unsigned seed = 7;
    for (int round = 0; round < 300; round++) {
        struct choice choice;
        struct range all[40];
        int count = 1 + rand_r(&seed) % 39;
        for (int i = 0; i < count; i++)
            all[i] = (struct range){.to = i + 1 == count ? INT64_MAX : i * 3 + rand_r(&seed) % 3};
        choice = (struct choice){count, all};
        for (int64_t bytes = 0; bytes < 130; bytes++) {
            int i = 0;
            while (all[i].to < bytes)
                i++;
            CHECK(choice_at(&choice, bytes) == &all[i]);
        }
    }
}

static void fuzz(void)
{
    static const char seeds[] =
        "unisono-rules 1\ncost node_latency 1.2e-07 node_byte 1.1e-10 fabric_latency 2e-06 "
        "fabric_byte 1e-10\nalltoall 1 2 0 4095 unisono/pull|unisono/cells,mpi\nbcast 384@8x8x6 16 0 max han\n"
        "allreduce * * 8 max tuned/ring:65536,mpi # x\n";
    static const char letters[] = "0123456789@x*:,|/#\n \t-.emaxunisono\0\xff";
    unsigned seed = 1;
    for (int round = 0; round < 30000; round++) {
        size_t length = sizeof seeds - 1 - (size_t)(rand_r(&seed) % 4 == 0 ? rand_r(&seed) % (int)sizeof seeds : 0);
        char *text = malloc(length + 1); /* exactly, for the sanitizer */
        memcpy(text, seeds, length);
        for (int change = rand_r(&seed) % 6; change > 0 && length > 16; change--)
            text[rand_r(&seed) % 2 ? 16 + (size_t)rand_r(&seed) % (length - 16) : (size_t)rand_r(&seed) % length] =
                letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
        char *exact = malloc(length > 0 ? length : 1);
        memcpy(exact, text, length);
        struct rules rules;
        struct problem problem = {""};
        int line;
        bool read = rules_parse(&rules, exact, length, &line, &problem);
        CHECK(read == !problem_any(&problem));
        if (read)
            rules_free(&rules);
        text[length] = '\0';
        problem = (struct problem){""};
        if (rules_parse_forced(&rules, text, &problem))
            rules_free(&rules);
        free(text);
        free(exact);
    }
}

int main(void)
{
    good();
    bad();
    long_lines();
    forced();
    choosing();
    gaps();
    as_fast();
    ranges();
    fuzz();
    return verdict();
}
