#include "planner.h"

#include <stdlib.h>
#include <string.h>

enum phase { CHECK, FIRST, SECOND, BLOCKS, MAKE_UP, FINISH };

static const int64_t longest_batch = 100000000; /* ns; clocks of different nodes drift apart */
static const int64_t shortest_limit = 200000000;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool planner_begin(struct planner *planner, const struct request *request, int settings, int64_t now, int64_t slack,
                   int64_t clock_error, struct problem *problem)
{
    *planner = (struct planner){.request = *request, .begin = now, .slack = slack, .clock_error = clock_error};
    planner->slack_most = larger(64 * slack, 2000000);
    planner->phase = request->check ? CHECK : FIRST;
    planner->subjects = calloc((size_t)settings, sizeof *planner->subjects);
    if (planner->subjects == NULL)
        return problem_set(problem, "out of memory");
    for (planner->count = 0; planner->count < settings; planner->count++) {
        struct subject *subject = &planner->subjects[planner->count];
        subject->block_left = -1;
        subject->times = malloc((size_t)request->max_reps * sizeof(int64_t));
        subject->spreads = malloc((size_t)request->max_reps * sizeof(int64_t));
        subject->insides = malloc((size_t)request->max_reps * sizeof(int64_t));
        if (subject->times == NULL || subject->spreads == NULL || subject->insides == NULL) {
            planner->count++;
            return problem_set(problem, "out of memory");
        }
    }
    return true;
}

void planner_end(struct planner *planner)
{
    for (int i = 0; i < planner->count; i++) {
        free(planner->subjects[i].times);
        free(planner->subjects[i].spreads);
        free(planner->subjects[i].insides);
    }
    free(planner->subjects);
    *planner = (struct planner){0};
}

/* What is left until nothing new is begun: a fifth of the deadline is kept for what is under way and for answering. */
static int64_t time_left(const struct planner *planner, int64_t now)
{
    return planner->begin + planner->request.deadline / 5 * 4 - now;
}

static void make_order(const struct planner *planner, int index, int64_t left, int count, bool warm_up,
                       struct order *order)
{
    const struct subject *subject = &planner->subjects[index];
    int64_t cycle = larger(subject->cycle, 1);
    int64_t fitting = larger(smaller(longest_batch, left) / cycle, 1);
    count = (int)smaller(smaller(count, fitting), PLANNER_BATCH);
    *order = (struct order){
        .kind = ORDER_RUN,
        .index = index,
        /* The first repetition after another setting ran finds its code, its connections and the caches as that left them. */
        .skip = !warm_up && (count >= 4 || (count > 1 && cycle <= planner->request.time / 2)),
        .count = count,
        .warm_up = warm_up,
        .slack = planner->slack,
        .limit = larger(smaller(8 * cycle * count, left), shortest_limit),
        .tolerance = 100 + subject->typical / 50 + planner->clock_error,
    };
}

static void next_setting(struct planner *planner)
{
    if (++planner->position < planner->count)
        return;
    planner->position = 0;
    if (planner->phase != BLOCKS)
        planner->phase++;
    else if (++planner->block == planner->request.blocks)
        planner->phase = MAKE_UP;
}

static bool before_blocks(struct planner *planner, int64_t left, struct order *order)
{
    int index = planner->position;
    int phase = planner->phase;
    struct subject *subject = &planner->subjects[index];
    next_setting(planner);
    if (problem_any(&subject->refused))
        return false;
    if (left <= subject->cycle)
        return problem_set(&subject->refused, "deadline: no time was left to measure it");
    /* One call of a long operation tells enough, and the check may have been it. */
    if ((phase == FIRST && subject->cycle > planner->request.time) ||
        (phase == SECOND && subject->typical > planner->request.time))
        return false;
    if (phase == CHECK)
        *order = (struct order){.kind = ORDER_CHECK, .index = index};
    else if (phase == FIRST)
        make_order(planner, index, left, 1, true, order);
    else
        make_order(planner, index, left, subject->cycle < planner->request.time / 16 ? 4 : 1, true, order);
    return true;
}

/* Estimates err, and something may hold ranks up: what was meant to be enough is not exceeded without end. */
static bool has_had_its_time(const struct planner *planner, const struct subject *subject)
{
    return subject->spent >= 2 * planner->request.time;
}

/* In each block every setting follows another one, so that what that one left in caches and connections is not always the
   same one's burden. 0, 1, n - 1, 2, n - 2 ... shifted by the block, and where n is odd every second block from its end: in n
   blocks, or 2n, every setting follows every other one alike (Williams: Experimental designs balanced for the estimation of
   residual effects of treatments, Australian Journal of Scientific Research A 2, 1949). */
static int balanced(int position, int block, int count)
{
    if (count % 2 == 1 && block % 2 == 1)
        position = count - 1 - position;
    int place = position % 2 == 1 ? (position + 1) / 2 : (count - position / 2) % count;
    return (place + block) % count;
}

static bool in_blocks(struct planner *planner, int64_t left, struct order *order)
{
    int index = balanced(planner->position, planner->block, planner->count);
    struct subject *subject = &planner->subjects[index];
    if (subject->block_left < 0) {
        int wanted = has_had_its_time(planner, subject) ? planner->request.min_reps : subject->target;
        int blocks_left = planner->request.blocks - planner->block;
        int missing = (int)larger(wanted - subject->attempts, 0);
        subject->block_left = (missing + blocks_left - 1) / blocks_left;
    }
    if (problem_any(&subject->refused) || subject->block_left == 0 || (left <= subject->cycle && subject->valid > 0)) {
        subject->block_left = -1;
        next_setting(planner);
        return false;
    }
    make_order(planner, index, left, subject->block_left, false, order);
    subject->block_left -= order->count;
    return true;
}

static bool in_make_up(struct planner *planner, int64_t left, struct order *order)
{
    for (int index = 0; index < planner->count; index++) {
        struct subject *subject = &planner->subjects[index];
        int missing = subject->target - subject->valid;
        bool tried = subject->attempts >= 3 * subject->target + 16 || has_had_its_time(planner, subject);
        bool enough = tried && subject->valid >= planner->request.min_reps;
        if (problem_any(&subject->refused) || missing <= 0 || enough || left <= subject->cycle)
            continue;
        make_order(planner, index, left, missing, false, order);
        return true;
    }
    planner->phase = FINISH;
    return false;
}

void planner_next(struct planner *planner, int64_t now, struct order *order)
{
    int64_t left = time_left(planner, now);
    while (planner->phase != FINISH) {
        bool found = planner->phase < BLOCKS    ? before_blocks(planner, left, order)
                     : planner->phase == BLOCKS ? in_blocks(planner, left, order)
                                                : in_make_up(planner, left, order);
        if (found)
            return;
    }
    *order = (struct order){.kind = ORDER_FINISH};
    for (int i = 0; i < planner->count; i++) {
        struct subject *subject = &planner->subjects[i];
        if (subject->valid == 0)
            problem_set(&subject->refused, "noise: in none of %d repetitions did all ranks start together",
                        subject->attempts);
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A batch that was held up says little about how long the next will take: the quickest one counts. */
static void estimate(const struct planner *planner, struct subject *subject, const struct outcome *outcome)
{
    const struct request *request = &planner->request;
    int64_t cycle = larger(outcome->wall / outcome->count, 1);
    subject->cycle = subject->typical == 0 ? cycle : smaller(subject->cycle, cycle);
    subject->target = (int)larger(request->min_reps, smaller(request->time / subject->cycle, request->max_reps));
}

/* The middle of the warm-up's times. */
static int64_t typical_time(const struct outcome *outcome)
{
    int64_t sorted[PLANNER_BATCH];
    memcpy(sorted, outcome->times, (size_t)outcome->count * sizeof *sorted);
    qsort(sorted, (size_t)outcome->count, sizeof *sorted, ascending);
    return larger(sorted[(outcome->count - 1) / 2], 1);
}

void planner_take_check(struct planner *planner, const struct order *order, const struct problem *wrong, int64_t took)
{
    struct subject *subject = &planner->subjects[order->index];
    subject->checked = true;
    subject->wrong = *wrong;
    subject->cycle = larger(took, 1);
}

void planner_take(struct planner *planner, const struct order *order, const struct outcome *outcome)
{
    struct subject *subject = &planner->subjects[order->index];
    int late = 0;
    for (int i = 0; i < outcome->count; i++)
        late += outcome->late[i];
    if (late * 8 > outcome->count)
        planner->slack = smaller(2 * planner->slack, planner->slack_most);
    estimate(planner, subject, outcome);
    if (order->warm_up) {
        subject->typical = typical_time(outcome);
        return;
    }
    subject->spent += outcome->wall;
    subject->attempts += outcome->count;
    subject->discarded += late;
    for (int i = 0; i < outcome->count && subject->valid < planner->request.max_reps; i++) {
        if (outcome->late[i])
            continue;
        subject->spreads[subject->valid] = outcome->spreads[i];
        subject->insides[subject->valid] = outcome->insides[i];
        subject->times[subject->valid++] = outcome->times[i];
    }
}
