#include "rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

enum { LINE_BYTES = 1024, LINE_WORDS = 16 };

static bool number(const char *text, int64_t most, int64_t *value)
{
    *value = 0;
    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++) {
        if (*value > (most - (*text - '0')) / 10)
            return false;
        *value = *value * 10 + (*text - '0');
    }
    return *text == '\0';
}

static bool add(struct rules *rules, const struct rule *rule, struct problem *problem)
{
    if (rules->count == rules->room) {
        int room = rules->room == 0 ? 64 : 2 * rules->room;
        struct rule *bigger = realloc(rules->rule, (size_t)room * sizeof *bigger);
        if (bigger == NULL)
            return problem_set(problem, "no memory");
        rules->rule = bigger;
        rules->room = room;
    }
    rules->rule[rules->count++] = *rule;
    return true;
}

/* A positive number or `*`. */
static bool read_number_or_any(const char *text, int *value)
{
    int64_t read;
    *value = ANY;
    if (strcmp(text, "*") == 0)
        return true;
    bool good = number(text, INT32_MAX, &read) && read > 0;
    *value = (int)read;
    return good;
}

/* "8x8x6"; as many places as there are nodes. */
static bool read_box(const char *text, struct rule *rule)
{
    int64_t places = 1;
    for (int i = 0;; i++) {
        size_t length = strcspn(text, "x");
        char digits[12];
        int64_t extent;
        if (i == TORUS_MOST || length >= sizeof digits)
            return false;
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!number(digits, INT32_MAX, &extent) || extent < 1 || places > INT32_MAX / extent)
            return false;
        places *= extent;
        if (extent > 1)
            rule->extent[rule->dimensions++] = (int)extent;
        if (text[length] == '\0')
            return places == rule->nodes;
        text += length + 1;
    }
}

/* "384", "384@8x8x6" or "*". */
static bool read_nodes(char *text, struct rule *rule, struct problem *problem)
{
    char *box = strchr(text, '@');
    if (box != NULL)
        *box++ = '\0';
    if (!read_number_or_any(text, &rule->nodes))
        return problem_set(problem, "'%.40s' is no number of nodes, nor *", text);
    if (box != NULL && !read_box(box, rule))
        return problem_set(problem, "'%.40s' is no box of %.20s nodes", box, text);
    return true;
}

static bool read_implementations(const char *text, struct rule *rule, struct problem *problem)
{
    for (bool as_fast = false;;) {
        size_t length = strcspn(text, ",|");
        if (rule->count == RULE_WORDS)
            return problem_set(problem, "more than %d implementations in one rule", RULE_WORDS);
        const struct implementation *found = implementation_find(rule->collective, text, length, problem);
        if (found == NULL)
            return false;
        rule->as_fast[rule->count] = as_fast;
        rule->implementation[rule->count++] = found;
        if (text[length] == '\0')
            return true;
        as_fast = text[length] == '|';
        text += length + 1;
    }
}

static bool read_rule(struct rules *rules, char **words, int count, struct problem *problem)
{
    struct rule rule = {.collective = collective_find(words[0])};
    if (rule.collective == COLLECTIVES)
        return problem_set(problem, "'%.40s' is not a collective that can be served", words[0]);
    if (count != 6)
        return problem_set(problem, "a rule is COLLECTIVE NODES PPN FROM TO IMPLEMENTATION[,...]");
    if (!read_nodes(words[1], &rule, problem))
        return false;
    if (!read_number_or_any(words[2], &rule.ppn))
        return problem_set(problem, "'%.40s' is no number of ranks a node, nor *", words[2]);
    rule.to = INT64_MAX;
    if (!number(words[3], INT64_MAX, &rule.from))
        return problem_set(problem, "'%.40s' is not a message size", words[3]);
    if (strcmp(words[4], "max") != 0 && !number(words[4], INT64_MAX, &rule.to))
        return problem_set(problem, "'%.40s' is not a message size, nor max", words[4]);
    if (rule.from > rule.to)
        return problem_set(problem, "no message size is from %.40s to %.40s", words[3], words[4]);
    return read_implementations(words[5], &rule, problem) && add(rules, &rule, problem);
}

static bool read_costs(struct rules *rules, char **words, int count, struct problem *problem)
{
    struct {
        const char *name;
        double *value;
        bool given;
    } fields[] = {{"node_latency", &rules->costs.node_latency, false},
                  {"node_byte", &rules->costs.node_byte, false},
                  {"fabric_latency", &rules->costs.fabric_latency, false},
                  {"fabric_byte", &rules->costs.fabric_byte, false},
                  {"fabric_message", &rules->costs.fabric_message, false}};
    enum { NEEDED = 4, FIELDS };
    for (int i = 1; i + 1 < count; i += 2)
        for (int f = 0; f < FIELDS; f++)
            if (strcmp(words[i], fields[f].name) == 0) {
                double *value = fields[f].value;
                fields[f].given = number_read(words[i + 1], value) && *value > 0 && *value < 1;
            }
    rules->has_costs = count == 1 + 2 * (NEEDED + fields[NEEDED].given);
    for (int f = 0; f < NEEDED; f++)
        rules->has_costs = rules->has_costs && fields[f].given;
    /* Of most adapters, where nobody measured it. */
    if (!fields[NEEDED].given)
        rules->costs.fabric_message = rules->costs.fabric_latency / 10;
    return rules->has_costs ||
           problem_set(problem, "costs are node_latency, node_byte, fabric_latency, fabric_byte and, if "
                                "it was measured, fabric_message, each followed by seconds");
}

enum reproducible rules_reproducible(const char *word)
{
    return strcmp(word, "runs") == 0        ? REPRODUCIBLE_RUNS
           : strcmp(word, "placement") == 0 ? REPRODUCIBLE_PLACEMENT
           : strcmp(word, "ranks") == 0     ? REPRODUCIBLE_RANKS
                                            : REPRODUCIBLES;
}

static bool read_reproducible(struct rules *rules, char **words, int count, struct problem *problem)
{
    rules->reproducible = count == 2 ? rules_reproducible(words[1]) : REPRODUCIBLES;
    if (rules->reproducible != REPRODUCIBLES)
        return true;
    return problem_set(problem, "reproducible is followed by runs, placement or ranks");
}

/* Words of a line; -1: too many. */
static int split(char *line, char **words)
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r", &rest); word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == LINE_WORDS)
            return -1;
        words[count++] = word;
    }
    return count;
}

static bool read_line(struct rules *rules, char *line, bool *begun, struct problem *problem)
{
    char *words[LINE_WORDS];
    int count = split(line, words);
    if (count < 0)
        return problem_set(problem, "more words than any line has");
    if (count == 0)
        return true;
    if (!*begun) {
        *begun = count == 2 && strcmp(words[0], "unisono-rules") == 0 && strcmp(words[1], "1") == 0;
        return *begun || problem_set(problem, "the first line must be 'unisono-rules 1'");
    }
    return strcmp(words[0], "cost") == 0           ? read_costs(rules, words, count, problem)
           : strcmp(words[0], "reproducible") == 0 ? read_reproducible(rules, words, count, problem)
                                                   : read_rule(rules, words, count, problem);
}

bool rules_parse(struct rules *rules, const char *text, size_t length, int *line, struct problem *problem)
{
    char room[LINE_BYTES];
    bool begun = false, good = true;
    *rules = (struct rules){0};
    *line = 0;
    for (size_t at = 0; good && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t bytes = end != NULL ? (size_t)(end - text) - at : length - at;
        ++*line;
        const char *comment = memchr(text + at, '#', bytes);
        const size_t used = comment != NULL ? (size_t)(comment - text) - at : bytes;
        if (used >= sizeof room || memchr(text + at, '\0', bytes) != NULL) {
            good = problem_set(problem, "not a line of text of at most %d bytes", LINE_BYTES - 1);
        } else {
            memcpy(room, text + at, used);
            room[used] = '\0';
            good = read_line(rules, room, &begun, problem);
        }
        at += bytes + 1;
    }
    if (good && !begun) {
        *line = 1;
        good = problem_set(problem, "the first line must be 'unisono-rules 1'");
    }
    if (!good)
        rules_free(rules);
    return good;
}

void rules_free(struct rules *rules)
{
    free(rules->rule);
    *rules = (struct rules){0};
}

bool rules_parse_forced(struct rules *rules, const char *text, struct problem *problem)
{
    *rules = (struct rules){0};
    while (*text != '\0') {
        char name[32];
        size_t length = strcspn(text, ","), equals = strcspn(text, "=");
        struct rule rule = {.nodes = ANY, .ppn = ANY, .to = INT64_MAX, .count = 1, .collective = COLLECTIVES};
        if (equals < length && equals < sizeof name) {
            memcpy(name, text, equals);
            name[equals] = '\0';
            rule.collective = collective_find(name);
        }
        if (rule.collective == COLLECTIVES)
            problem_set(problem, "'%.*s' is not COLLECTIVE=IMPLEMENTATION", (int)(length < 60 ? length : 60), text);
        else
            rule.implementation[0] =
                implementation_find(rule.collective, text + equals + 1, length - equals - 1, problem);
        if (problem_any(problem) || !add(rules, &rule, problem)) {
            rules_free(rules);
            return false;
        }
        text += length + (text[length] == ',');
    }
    return true;
}
