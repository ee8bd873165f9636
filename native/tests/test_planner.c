/* What is run next: a pretended machine answers, the order of things and the counts are looked at. */
#include <stdlib.h>
#include <string.h>

#include "../bench/planner.h"
#include "check.h"

enum { SETTINGS = 3, MORE_SETTINGS = 4, ORDERS = 100000 };

/* A machine on which setting i takes `times[i]` ns, and every `late`-th repetition has a late rank (0: none; -n: all
 * but every n-th). */
struct machine {
    int64_t now;
    int settings; /* 0: SETTINGS */
    int64_t times[MORE_SETTINGS];
    int late;
    int served;
    bool cut;    /* batches end before they are done */
    int held_up; /* this many batches take a hundred times as long */
    int checks, runs, first_of_round[ORDERS], rounds;
    int64_t last_slack;
};

static void serve(struct machine *machine, struct planner *planner, const struct order *order)
{
    static struct outcome outcome;
    int64_t each = machine->times[order->index];
    if (order->kind == ORDER_CHECK) {
        struct problem none = {""};
        machine->checks++;
        machine->now += each;
        planner_take_check(planner, order, &none, each);
        return;
    }
    CHECK(order->count >= 1 && order->count <= PLANNER_BATCH);
    for (int i = 0; i < order->count; i++) {
        outcome.times[i] = each;
        outcome.spreads[i] = 10;
        outcome.insides[i] = 20;
        machine->served++;
        outcome.late[i] = machine->late > 0   ? machine->served % machine->late == 0
                          : machine->late < 0 ? machine->served % machine->late != 0
                                              : false;
    }
    outcome.count = machine->cut ? 1 + order->count / 2 : order->count;
    outcome.wall = each * (outcome.count + order->skip);
    if (machine->runs < machine->held_up)
        outcome.wall *= 100;
    machine->now += outcome.wall;
    machine->runs++;
    machine->last_slack = order->slack;
    if (!order->warm_up && machine->rounds < ORDERS)
        machine->first_of_round[machine->rounds++] = order->index;
    planner_take(planner, order, &outcome);
}

static void run(struct machine *machine, struct planner *planner, const struct request *request)
{
    struct order order;
    struct problem problem = {""};
    CHECK(planner_begin(planner, request, machine->settings ? machine->settings : SETTINGS, machine->now, 2000, 0,
                        &problem));
    for (int i = 0; i < ORDERS; i++) {
        planner_next(planner, machine->now, &order);
        if (order.kind == ORDER_FINISH)
            return;
        serve(machine, planner, &order);
    }
    CHECK(!"the planner never finishes");
}

static const struct request usual = {
    .time = 20000000, .deadline = 30000000000, .min_reps = 10, .max_reps = 400, .blocks = 4, .check = true};

static void gives_time_and_counts(void)
{
    struct machine machine = {.times = {1000, 100000, 5000000}};
    struct planner planner;
    run(&machine, &planner, &usual);
    CHECK(machine.checks == SETTINGS);
    CHECK(planner.subjects[0].valid == 400);
    CHECK(planner.subjects[1].valid == 200);
    CHECK(planner.subjects[2].valid == 10);
    for (int i = 0; i < SETTINGS; i++) {
        CHECK(planner.subjects[i].checked && !problem_any(&planner.subjects[i].refused));
        CHECK(planner.subjects[i].discarded == 0);
        CHECK(planner.subjects[i].times[0] == machine.times[i]);
    }
    planner_end(&planner);
}

/* Within blocks, how often one setting was served right behind another. */
static void follows(int settings, int blocks, int times)
{
    struct machine machine = {.settings = settings, .times = {1000000, 1000000, 1000000, 1000000}};
    struct request request = usual;
    struct planner planner;
    int behind[MORE_SETTINGS][MORE_SETTINGS] = {{0}};
    request.blocks = blocks;
    run(&machine, &planner, &request);
    CHECK(machine.rounds == blocks * settings);
    for (int block = 0; block < blocks; block++) {
        const int *served = machine.first_of_round + block * settings;
        int seen = 0;
        for (int position = 0; position < settings; position++)
            seen |= 1 << served[position];
        CHECK(seen == (1 << settings) - 1);
        for (int position = 1; position < settings; position++)
            behind[served[position - 1]][served[position]]++;
    }
    for (int one = 0; one < settings; one++)
        for (int other = 0; other < settings; other++)
            CHECK(behind[one][other] == (one == other ? 0 : times));
    planner_end(&planner);
}

static void nobody_follows_the_same_one(void)
{
    follows(2, 2, 1);
    follows(4, 4, 1);
    follows(4, 8, 2);
    follows(3, 6, 2);
}

static void makes_up_for_late_repetitions(void)
{
    struct machine machine = {.times = {1000, 1000, 1000}, .late = 4};
    struct planner planner;
    run(&machine, &planner, &usual);
    for (int i = 0; i < SETTINGS; i++) {
        CHECK(planner.subjects[i].valid == 400);
        CHECK(planner.subjects[i].discarded > 100);
        CHECK(planner.subjects[i].attempts == planner.subjects[i].valid + planner.subjects[i].discarded);
    }
    CHECK(machine.last_slack > 2000);
    planner_end(&planner);
}

static void continues_after_batches_cut_short(void)
{
    struct machine machine = {.times = {100000, 100000, 100000}, .cut = true};
    struct planner planner;
    run(&machine, &planner, &usual);
    for (int i = 0; i < SETTINGS; i++)
        CHECK(planner.subjects[i].valid == planner.subjects[i].target);
    planner_end(&planner);
}

/* A warm-up that was held up must not cost the repetitions; neighbours that never cease end it in time. */
static void recovers_from_a_slow_beginning(void)
{
    struct machine machine = {.times = {100000, 100000, 100000}, .held_up = 2 * SETTINGS};
    struct planner planner;
    run(&machine, &planner, &usual);
    for (int i = 0; i < SETTINGS; i++)
        CHECK(planner.subjects[i].valid >= 150);
    planner_end(&planner);
    machine = (struct machine){.times = {100000, 100000, 100000}, .held_up = ORDERS};
    run(&machine, &planner, &usual);
    for (int i = 0; i < SETTINGS; i++) {
        CHECK(planner.subjects[i].valid >= usual.min_reps);
        CHECK(planner.subjects[i].spent < 20 * usual.time);
    }
    planner_end(&planner);
}

static void gives_up_when_all_are_late(void)
{
    struct machine machine = {.times = {1000, 1000, 1000}, .late = 1};
    struct planner planner;
    struct request request = usual;
    request.deadline = 100000000;
    run(&machine, &planner, &request);
    for (int i = 0; i < SETTINGS; i++)
        CHECK(planner.subjects[i].valid == 0 && strncmp(planner.subjects[i].refused.text, "noise:", 6) == 0);
    planner_end(&planner);
}

/* Nine of ten repetitions spoiled: the fewest asked for are waited for, more are not. */
static void gets_the_fewest_out_of_much_noise(void)
{
    struct machine machine = {.times = {100000, 100000, 100000}, .late = -10};
    struct planner planner;
    struct request request = usual;
    request.min_reps = 50;
    run(&machine, &planner, &request);
    for (int i = 0; i < SETTINGS; i++)
        CHECK(planner.subjects[i].valid >= 50 && planner.subjects[i].valid < planner.subjects[i].target);
    planner_end(&planner);
}

static void keeps_the_deadline(void)
{
    struct machine machine = {.times = {1000000000, 1000000000, 1000000000}};
    struct request request = usual;
    struct planner planner;
    request.deadline = 10000000000;
    run(&machine, &planner, &request);
    CHECK(machine.now <= request.deadline);
    int measured = 0;
    for (int i = 0; i < SETTINGS; i++) {
        measured += planner.subjects[i].valid > 0;
        CHECK((planner.subjects[i].valid > 0) != problem_any(&planner.subjects[i].refused));
    }
    CHECK(measured > 0);
    planner_end(&planner);
}

static void warms_up_long_operations_once(void)
{
    struct machine machine = {.times = {50000000, 50000000, 50000000}};
    struct request request = usual;
    struct planner planner;
    request.min_reps = request.max_reps = 1;
    run(&machine, &planner, &request);
    CHECK(machine.checks == SETTINGS && machine.runs == 2 * SETTINGS);
    planner_end(&planner);
}

/* Any request ends, keeps its promises or says why not. */
static void any_request(void)
{
    srand(1);
    for (int i = 0; i < 2000; i++) {
        struct machine machine = {.late = rand() % 5, .cut = rand() % 2};
        for (int j = 0; j < SETTINGS; j++)
            machine.times[j] = INT64_C(1) << (12 + rand() % 22);
        struct request request = {.time = INT64_C(1) << rand() % 30,
                                  .deadline = INT64_C(1) << (20 + rand() % 11),
                                  .min_reps = 1 + rand() % 20,
                                  .blocks = 1 + rand() % 9,
                                  .check = rand() % 2};
        request.max_reps = request.min_reps + rand() % 500;
        struct planner planner;
        run(&machine, &planner, &request);
        for (int j = 0; j < SETTINGS; j++) {
            struct subject *subject = &planner.subjects[j];
            CHECK(subject->valid <= request.max_reps);
            CHECK((subject->valid == 0) == problem_any(&subject->refused));
        }
        planner_end(&planner);
    }
}

int main(void)
{
    gives_time_and_counts();
    nobody_follows_the_same_one();
    makes_up_for_late_repetitions();
    recovers_from_a_slow_beginning();
    continues_after_batches_cut_short();
    gives_up_when_all_are_late();
    gets_the_fewest_out_of_much_noise();
    keeps_the_deadline();
    warms_up_long_operations_once();
    any_request();
    return verdict();
}
