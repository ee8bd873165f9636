#include "choice.h"

#include <stdlib.h>
#include <string.h>

#include "reserve.h"
#include "trial.h"

/* -1: the rule is not for this place; else the greater, the more exactly it is. */
static int fit(const struct rule *rule, const struct place *place)
{
    if (rule->nodes != ANY && rule->nodes != place->nodes)
        return -1;
    if (rule->ppn != ANY && rule->ppn != place->ppn)
        return -1;
    if (rule->dimensions > 0 &&
        (rule->dimensions != place->dimensions || memcmp(rule->extent, place->extent, sizeof rule->extent) != 0))
        return -1;
    return 4 * (rule->nodes != ANY) + 2 * (rule->ppn != ANY) + (rule->dimensions > 0);
}

const struct rule *choice_rule(const struct rules *rules, enum collective collective, const struct place *place,
                               int64_t bytes)
{
    const struct rule *found = NULL;
    int found_fit = -1;
    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->rule[i];
        if (rule->collective != collective || bytes < rule->from || bytes > rule->to)
            continue;
        int its = fit(rule, place);
        if (its > found_fit) {
            found = rule;
            found_fit = its;
        }
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool same(const struct range *a, const struct range *b)
{
    return a->count == b->count &&
           memcmp(a->implementation, b->implementation, (size_t)a->count * sizeof a->implementation[0]) == 0;
}

/* The next range, which begins where the last one ends; one that is like the last only makes that longer. */
static void append(struct choice *choice, const struct range *range)
{
    if (choice->count > 0 && same(&choice->range[choice->count - 1], range))
        choice->range[choice->count - 1].to = range->to;
    else
        choice->range[choice->count++] = *range;
}

/* Nothing to look up when all is mpi's. */
static void simplify(struct choice *choice)
{
    bool plain = true;
    for (int i = 0; i < choice->count; i++)
        plain = plain && choice->range[i].implementation[0]->kind == BY_MPI;
    if (plain)
        choice_free(choice);
}

/* Bytes between groups of nodes for each byte of a message; negative: not counted. */
static double crosses(const struct implementation *one, const struct place *place)
{
    if (one->kind != BY_OURS || one->algorithm->crosses == NULL)
        return -1;
    const struct coll_comm comm = {.ranks = place->topology->ranks, .topology = *place->topology};
    const struct shape shape = {.bytes = 1, .element = 1, .commutative = true};
    return algorithm_crosses(one->algorithm, &comm, &shape).total;
}

/* Which of two that are as fast as each other comes first. What is not counted stays where it is. */
static void put_nearer_first(const struct implementation **first, const struct implementation **other,
                             const struct place *place)
{
    const double firsts = crosses(*first, place), others = crosses(*other, place);
    if (others < 0 || firsts <= others)
        return;
    const struct implementation *former = *first;
    *first = *other;
    *other = former;
}

/* What a rule has for a range; none: it says nothing of it. */
static void take(struct range *range, const struct rule *rule, const struct place *place, bool ordered)
{
    const bool grouped = place->topology != NULL && place->topology->places != NULL;
    int first = 0; /* of those that are as fast as the next */
    *range = (struct range){.count = 0};
    for (int i = 0; rule != NULL && i < rule->count; i++) {
        const struct implementation *one = rule->implementation[i];
        if (!rule->as_fast[i])
            first = range->count;
        if (ordered && !(one->kind == BY_OURS && one->algorithm->keeps_order))
            continue;
        range->implementation[range->count++] = one;
        if (grouped && range->count > first + 1)
            put_nearer_first(&range->implementation[first], &range->implementation[range->count - 1], place);
    }
}

void choice_from_rules(struct choice *choice, const struct rules *rules, enum collective collective,
                       const struct place *place, const struct choice *others, bool ordered)
{
    size_t room = 2 * (size_t)rules->count + 1 + (others != NULL ? (size_t)others->count : 0);
    int64_t *begins = reserve_get(room * sizeof *begins);
    int count = 0;
    *choice = (struct choice){0};
    begins[count++] = 0;
    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->rule[i];
        if (rule->collective != collective || fit(rule, place) < 0)
            continue;
        begins[count++] = rule->from;
        if (rule->to != INT64_MAX)
            begins[count++] = rule->to + 1;
    }
    for (int i = 0; others != NULL && i + 1 < others->count; i++)
        begins[count++] = others->range[i].to + 1;
    qsort(begins, (size_t)count, sizeof *begins, compare);
    choice->range = reserve_get((size_t)count * sizeof *choice->range);
    for (int i = 0; i < count; i++) {
        if (i + 1 < count && begins[i + 1] == begins[i])
            continue;
        const struct rule *rule = choice_rule(rules, collective, place, begins[i]);
        const struct range *other = others != NULL ? choice_at(others, begins[i]) : NULL;
        struct range range;
        take(&range, rule, place, ordered);
        if (range.count == 0 && other != NULL)
            range = *other;
        else if (range.count == 0)
            range.implementation[range.count++] = implementation_mpi(collective);
        range.to = i + 1 < count ? begins[i + 1] - 1 : INT64_MAX;
        append(choice, &range);
    }
    reserve_put(begins);
    simplify(choice);
}

/* The implementation that is this algorithm of ours. */
static const struct implementation *implementation_of(const struct algorithm *algorithm)
{
    char word[WORD_BYTES] = "unisono/";
    struct problem problem = {""};
    size_t skip = strlen(collective_names[algorithm->collective]) + 1, used = strlen(word);
    strncat(word, algorithm->name + skip, sizeof word - used - 1);
    return implementation_find(algorithm->collective, word, strlen(word), &problem);
}

/* Whether anything that applies says what it puts between groups of nodes, where these are known: others are not compared with it. */
static bool counts_crossing(const struct coll_comm *comm, enum collective collective, const struct shape *shape)
{
    bool any = false;
    for (int i = 0; comm->topology.places != NULL && algorithm_at(i) != NULL && !any; i++)
        any = algorithm_at(i)->collective == collective && algorithm_at(i)->crosses != NULL &&
              algorithm_applies(algorithm_at(i), comm, shape);
    return any;
}

/* Seconds by its model; negative: it is none to choose. */
static double cost_of(const struct coll_comm *comm, int index, enum collective collective, const struct shape *shape,
                      bool counted)
{
    const struct algorithm *algorithm = algorithm_at(index);
    if (algorithm->collective != collective || (counted && algorithm->crosses == NULL) ||
        !algorithm_applies(algorithm, comm, shape))
        return -1;
    return algorithm_cost(algorithm, comm, shape) * trial_factor(comm, index, shape->bytes);
}

/* No model is exact to a fifth (../collectives/README.md). Among those that are about as quick, the one that leaves most of the
 * links between groups of nodes to others: every job uses these. Where groups are not known, the quickest. */
static const double about = 1.2;

const struct algorithm *choice_of_costs(const struct coll_comm *comm, enum collective collective,
                                        const struct shape *shape)
{
    const struct algorithm *found = NULL;
    const bool counted = counts_crossing(comm, collective, shape);
    double least = 0;
    for (int i = 0; algorithm_at(i) != NULL; i++) {
        double cost = cost_of(comm, i, collective, shape, counted);
        if (cost >= 0 && (found == NULL || cost < least)) {
            found = algorithm_at(i);
            least = cost;
        }
    }
    if (!counted)
        return found;
    double fewest = algorithm_crosses(found, comm, shape).total;
    for (int i = 0; algorithm_at(i) != NULL; i++) {
        double cost = cost_of(comm, i, collective, shape, counted);
        double crosses =
            cost >= 0 && cost <= about * least ? algorithm_crosses(algorithm_at(i), comm, shape).total : fewest;
        if (crosses < fewest) {
            found = algorithm_at(i);
            fewest = crosses;
        }
    }
    return found;
}

static const struct implementation *quickest(const struct coll_comm *comm, enum collective collective,
                                             const struct shape *shape)
{
    const struct algorithm *found = choice_of_costs(comm, collective, shape);
    return found != NULL ? implementation_of(found) : NULL;
}

/* Behind what is there, once. */
static void add(struct range *range, const struct implementation *one)
{
    bool known = one == NULL;
    for (int i = 0; i < range->count; i++)
        known = known || range->implementation[i] == one;
    if (!known)
        range->implementation[range->count++] = one;
}

void choice_from_costs(struct choice *choice, const struct coll_comm *comm, enum collective collective, bool ordered)
{
    enum { DOUBLINGS = 40, STEPS = 2 * DOUBLINGS + 1 };
    *choice = (struct choice){0};
    choice->range = reserve_get(STEPS * sizeof *choice->range);
    for (int step = 0; step < STEPS; step++) {
        /* 0, then the powers of two and, between each two, a half more. */
        int64_t power = INT64_C(1) << step / 2, next = step % 2 == 0 ? power + power / 2 : 2 * power;
        int64_t bytes = step == 0 ? 0 : step % 2 == 0 ? power : power + power / 2;
        struct range range = {.to = step + 1 == STEPS ? INT64_MAX : step == 0 ? 0 : next - 1};
        if (range.to < bytes)
            continue;
        struct shape shape = {.bytes = bytes, .element = 8, .commutative = true, .ordered = ordered},
                     other_shape = shape;
        other_shape.commutative = false;
        const int64_t end = range.to < INT64_MAX ? range.to : bytes;
        if (!ordered && (!trial_prefers_ours(comm, collective, bytes) || !trial_prefers_ours(comm, collective, end))) {
            range.implementation[range.count++] = implementation_mpi(collective);
            append(choice, &range);
            continue;
        }
        const struct implementation *one = quickest(comm, collective, &shape);
        const struct implementation *other =
            collective_reduces(collective) ? quickest(comm, collective, &other_shape) : one;
        /* What serves up to some size may not serve the range to its end. */
        shape.bytes = end;
        add(&range, one);
        add(&range, quickest(comm, collective, &shape));
        add(&range, other);
        range.implementation[range.count++] = implementation_mpi(collective);
        append(choice, &range);
    }
    simplify(choice);
}

void choice_of_one(struct choice *choice, const struct implementation *implementation)
{
    *choice = (struct choice){.count = 1, .range = reserve_get(sizeof *choice->range)};
    choice->range[0] = (struct range){.to = INT64_MAX, .count = 1, .implementation = {implementation}};
}

void choice_free(struct choice *choice)
{
    reserve_put(choice->range);
    *choice = (struct choice){0};
}
