/* Rules files and UNISONO_FORCE: any bytes at all are rules that can be looked up, or a sentence and no rules. */
#include "choice.h"
#include "fuzz.h"
#include "trial.h"

/* The table of words is filled for a whole run; here, for one input. */
#include "../../dispatch/implementation.c"

/* Nothing has been tried here (trial.h). */
double trial_factor(const struct coll_comm *comm, int index, int64_t bytes)
{
    (void)comm, (void)index, (void)bytes;
    return 1;
}

bool trial_prefers_ours(const struct coll_comm *comm, enum collective collective, int64_t bytes)
{
    (void)comm, (void)collective, (void)bytes;
    return true;
}

static void sound(const struct rules *rules)
{
    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->rule[i];
        FUZZ_CHECK(rule->collective >= 0 && rule->collective < COLLECTIVES && rule->from >= 0 &&
                   rule->from <= rule->to);
        FUZZ_CHECK(rule->count > 0 && rule->count <= RULE_WORDS && rule->dimensions >= 0);
        FUZZ_CHECK((rule->nodes == ANY || rule->nodes > 0) && (rule->ppn == ANY || rule->ppn > 0));
        for (int word = 0; word < rule->count; word++) {
            const struct implementation *found = rule->implementation[word];
            FUZZ_CHECK(found != NULL && found->collective == rule->collective && found->segment >= 0);
            FUZZ_CHECK((found->algorithm != NULL) == (found->kind == BY_OURS));
        }
        FUZZ_CHECK(rule->dimensions <= TORUS_MOST);
        for (int d = 0; d < rule->dimensions; d++)
            FUZZ_CHECK(rule->extent[d] > 1);
    }
}

/* Every size that a rule names has its range, and ranges ascend to the end. */
static void look_up(const struct rules *rules)
{
    const struct place places[] = {
        {.nodes = 1, .ppn = 2}, {.nodes = 384, .ppn = 16, .dimensions = 3, .extent = {8, 8, 6}}, {.nodes = 2}};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        struct choice choice = {0};
        enum collective collective = rules->count > 0 ? rules->rule[0].collective : COLL_BCAST;
        choice_from_rules(&choice, rules, collective, &places[p], NULL, false);
        for (int i = 0; i < choice.count; i++) {
            FUZZ_CHECK(choice.range[i].count >= 0 && choice.range[i].count <= RULE_WORDS);
            FUZZ_CHECK(i == 0 || choice.range[i - 1].to < choice.range[i].to);
        }
        FUZZ_CHECK(choice.count == 0 || choice.range[choice.count - 1].to == INT64_MAX);
        for (int i = 0; i < rules->count && i < 64; i++) {
            const struct range *range = choice_at(&choice, rules->rule[i].from);
            FUZZ_CHECK(range == NULL || range->to >= rules->rule[i].from);
        }
        choice_free(&choice);
    }
}

static void judge(bool good, struct rules *rules, const struct problem *problem)
{
    FUZZ_CHECK(good == !problem_any(problem));
    FUZZ_CHECK(good || rules->count == 0);
    FUZZ_CHECK(strchr(problem->text, '\n') == NULL);
    if (good) {
        sound(rules);
        look_up(rules);
        rules_free(rules);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rules rules;
    struct problem problem = {""};
    int line;
    char *exact = malloc(size > 0 ? size : 1), *text = fuzz_text(data, size);
    FUZZ_CHECK(exact != NULL);
    memcpy(exact, text, size);
    count = 0;
    judge(rules_parse(&rules, exact, size, &line, &problem), &rules, &problem);
    FUZZ_CHECK(!problem_any(&problem) || line > 0);
    problem = (struct problem){""};
    count = 0;
    judge(rules_parse_forced(&rules, text, &problem), &rules, &problem);
    free(exact);
    free(text);
    return 0;
}
