#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "check.h"
#include "held.h"
#include "loop.h"
#include "memory.h"
#include "operation.h"
#include "ours.h"
#include "partners.h"
#include "requests.h"
#include "watchdog.h"

enum { IDS_MAX = 256 };

struct task {
    char name[32];
    int64_t bytes;
    int ids[IDS_MAX];
    int count;
    bool off_cache, sweeps;
    struct arrival arrival;
    struct partners partners;
    int loop; /* calls right after one another, besides; 0: none */
    struct request request;
    int64_t begin; /* when the deadline began to run */
};

static bool read_task(struct bench *bench, struct command *command, struct task *task, struct problem *problem)
{
    const int64_t none = 0, one = 1, min_reps = 10, max_reps = 400, blocks = 4, time = 20000, deadline = 30;
    int64_t min, max, parts, off_cache, check, loop;
    const char *name = command_text(command, "coll");
    struct request *request = &task->request;
    if (name == NULL)
        return problem_set(problem, "coll is missing");
    if (collective_find(name) == NULL)
        return problem_set(problem, "coll=%.40s is not a collective that can be measured", name);
    strncpy(task->name, name, sizeof task->name - 1);
    if (!command_integer(command, "bytes", 0, INT64_C(1) << 40, NULL, &task->bytes, problem) ||
        !command_numbers(command, "ids", SETTINGS_MAX - 1, task->ids, IDS_MAX, &task->count, problem) ||
        !command_integer(command, "time_us", 1, 1000000000, &time, &request->time, problem) ||
        !command_integer(command, "min_reps", 1, 1000000, &min_reps, &min, problem) ||
        !command_integer(command, "max_reps", min, 1000000, max_reps < min ? &min : &max_reps, &max, problem) ||
        !command_integer(command, "blocks", 1, 1000, &blocks, &parts, problem) ||
        !command_integer(command, "off_cache", 0, 2, &none, &off_cache, problem) ||
        !command_integer(command, "check", 0, 1, &one, &check, problem) ||
        !arrival_read(&task->arrival, command, problem) || !partners_read(&task->partners, command, problem) ||
        !command_integer(command, "loop", 0, 1000000, &none, &loop, problem) ||
        !command_integer(command, "deadline_s", 1, 86400, &deadline, &request->deadline, problem) ||
        !command_complete(command, problem))
        return false;
    for (int i = 0; i < task->count; i++)
        if (!settings_known(&bench->settings, task->ids[i], problem))
            return false;
    request->time *= 1000;
    request->deadline *= 1000000000;
    request->min_reps = (int)min;
    request->max_reps = (int)max;
    request->blocks = (int)parts;
    request->check = check;
    task->off_cache = off_cache == 1;
    task->sweeps = off_cache == 2;
    task->loop = (int)loop;
    return true;
}

/* Hot: two buffers take turns while both fit comfortably into this rank's share of the cache, else one. Cold: as many
   as it takes to walk through twice that share before one comes round again. */
static size_t slots_for(const struct bench *bench, const struct operation *operation, bool off_cache)
{
    size_t stride = arena_stride(operation->send_bytes, operation->receive_bytes);
    size_t share = (size_t)bench->cache_share;
    if (operation->send_bytes + operation->receive_bytes == 0)
        return 1;
    if (off_cache)
        return 2 * share / stride + 2;
    return 2 * stride <= share / 2 ? 2 : 1;
}

/* Refuses what would not fit the node's memory, before anything is taken of it. The library may need as much again as
   the larger buffer for its own copies. */
static bool fits(struct bench *bench, const struct operation *operation, size_t slots, size_t sweep,
                 struct problem *problem)
{
    size_t larger = operation->send_bytes > operation->receive_bytes ? operation->send_bytes : operation->receive_bytes;
    size_t own = slots * arena_stride(operation->send_bytes, operation->receive_bytes);
    own = own > bench->arena.mapped ? own - bench->arena.mapped : 0;
    own += sweep > bench->sweep.mapped ? sweep - bench->sweep.mapped : 0;
    int64_t available = memory_available();
    int64_t needed = team_node_sum(&bench->team, (int64_t)(own + larger));
    /* Little is always there, and a machine that is full to the brim must not refuse eight bytes. */
    if (needed > available && needed > ((int64_t)16 << 20))
        return problem_set(problem, "memory: needs %" PRId64 " of %" PRId64 " bytes available on a node", needed,
                           available);
    return true;
}

/* Buffers with the first contents. */
static bool lay_out(struct bench *bench, const struct operation *operation, const struct task *task,
                    struct problem *problem)
{
    size_t slots = slots_for(bench, operation, task->off_cache);
    size_t sweep = task->sweeps ? 2 * (size_t)bench->cache_share : 0;
    bool good =
        fits(bench, operation, slots, sweep, problem) && sweep_prepare(&bench->sweep, sweep, problem) &&
        arena_cut(&bench->arena, operation->send_bytes, operation->receive_bytes, slots, task->off_cache, problem);
    if (!team_agree(&bench->team, problem))
        return false;
    uint64_t repetition = bench->repetition++; /* counts alike on all ranks, whether they send or not */
    /* A check fills the first slot itself, which is worth a second for a gigabyte. */
    if (good && operation->send_bytes && !(task->request.check && slots == 1)) {
        char *first = arena_slot(&bench->arena, 0).send;
        collective_data(operation->collective)->fill(operation, first, repetition);
        for (size_t i = 1; i < slots; i++)
            memcpy(arena_slot(&bench->arena, i).send, first, operation->send_bytes);
    }
    return true;
}

/* Before calls with a setting. */
static void take_up(struct bench *bench, int id, struct problem *problem)
{
    ours_rest(bench->settings.uses[id] == NULL);
    held_begin(bench->settings.holds[id], problem);
}

/* Ends what take_up() began: what went wrong on any rank, on rank 0. Nothing held is nothing to say. */
static void let_go(struct bench *bench, int id, struct problem *problem)
{
    requests_end();
    ours_rest(false);
    if (bench->settings.holds[id] == NULL)
        return;
    held_end(problem);
    struct problem failed = {""};
    if (held_failed(&failed))
        problem_set(problem, "error: %.240s", failed.text);
    team_agree(&bench->team, problem);
}

static void obey(struct bench *bench, const struct operation *operation, const struct task *task,
                 const struct order *order, struct planner *planner)
{
    static struct outcome outcome;
    char what[160];
    int id = task->ids[order->index];
    MPI_Comm comm = bench->settings.comms[id];
    enum fault_kind fault = fault_strikes(&bench->fault, task->name, id);
    snprintf(what, sizeof what, "measuring %s of %" PRId64 " bytes with setting %d", task->name, task->bytes, id);
    watchdog_note(what);
    if (bench->team.rank == bench->team.ranks - 1)
        fault_act(fault);
    struct problem wrong = {""}, failed = {""};
    int64_t took = 0;
    take_up(bench, id, &failed);
    if (order->kind == ORDER_RUN)
        batch_run(bench, operation, comm, order, &outcome);
    else
        took = check_result(bench, operation, comm, fault, &wrong);
    let_go(bench, id, &failed);
    if (bench->team.rank != 0)
        return;
    if (order->kind == ORDER_RUN)
        planner_take(planner, order, &outcome);
    else
        planner_take_check(planner, order, &wrong, took);
    if (problem_any(&failed))
        problem_set(&planner->subjects[order->index].refused, "%s", failed.text);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void answer_refused(struct bench *bench, int id, const char *reason)
{
    text_add(&bench->answer, "{\"sample\":%d,\"refused\":", id);
    text_quote(&bench->answer, reason);
    text_add(&bench->answer, "}");
    text_send(&bench->answer);
}

/* One loop for a setting, of as many calls as were asked for or as there is time for. How many, and the mean of a call
   in ns on rank 0. */
static int loop(struct bench *bench, const struct operation *operation, const struct task *task, int index,
                struct planner *planner, double *mean)
{
    int64_t calls = task->loop;
    if (bench->team.rank == 0) {
        const struct subject *subject = &planner->subjects[index];
        int64_t left = task->begin + task->request.deadline / 5 * 4 - clock_now(), each = subject->cycle + 1;
        calls = problem_any(&subject->refused) || left <= 0 ? 0 : left / each < calls ? left / each : calls;
    }
    team_share(&bench->team, &calls, sizeof calls);
    watchdog_note("calls right after one another");
    if (calls == 0)
        return 0;
    struct problem failed = {""};
    int id = task->ids[index];
    take_up(bench, id, &failed);
    *mean = loop_run(bench, operation, bench->settings.comms[id], (int)calls);
    let_go(bench, id, &failed);
    if (bench->team.rank == 0 && problem_any(&failed))
        problem_set(&planner->subjects[index].refused, "%s", failed.text);
    return (int)calls;
}

static void answer(struct bench *bench, const struct task *task, int id, struct subject *subject, int loop, double mean)
{
    struct text *text = &bench->answer;
    if (problem_any(&subject->refused)) {
        answer_refused(bench, id, subject->refused.text);
        return;
    }
    qsort(subject->spreads, (size_t)subject->valid, sizeof *subject->spreads, ascending);
    int64_t inside = 0;
    for (int i = 0; i < subject->valid; i++)
        inside += subject->insides[i];
    text_add(text,
             "{\"sample\":%d,\"coll\":\"%s\",\"bytes\":%" PRId64
             ",\"reps\":%d,\"discarded\":%d,\"sync\":\"%s\",\"correct\":%s",
             id, task->name, task->bytes, subject->valid, subject->discarded,
             bench->oversubscribed ? "barrier" : "clock",
             !subject->checked              ? "null"
             : problem_any(&subject->wrong) ? "false"
                                            : "true");
    if (problem_any(&subject->wrong)) {
        text_add(text, ",\"reason\":");
        text_quote(text, subject->wrong.text);
    }
    text_add(text, ",\"times_ns\":");
    text_integers(text, subject->times, (size_t)subject->valid);
    text_add(text, ",\"entry_spread_ns\":%" PRId64, subject->spreads[subject->valid / 2]);
    text_add(text, ",\"inside_ns\":%" PRId64, inside / subject->valid);
    if (loop > 0)
        text_add(text, ",\"loop\":%d,\"loop_ns\":%.1f", loop, mean);
    text_add(text, "}");
    text_send(text);
}

/* From "all have arrived" until the slowest rank surely knows the start: a few line transfers in the node, a few
   messages between nodes. Doubled by the planner when it proves too short. */
static int64_t first_slack(const struct team *team)
{
    int64_t slack = 2000 + 50 * (int64_t)team->locals;
    for (int reach = 1; reach < team->nodes; reach *= 2)
        slack += 20000;
    return slack;
}

/* One call with what a setting holds, to hear from the MPI library whether it can serve it so. */
static void try_held(struct bench *bench, const struct operation *operation, const struct task *task, int index,
                     struct planner *planner)
{
    struct problem problem = {""}, failed = {""};
    int id = task->ids[index];
    if (bench->settings.holds[id] == NULL)
        return;
    watchdog_note("trying an algorithm of the MPI library");
    held_begin(bench->settings.holds[id], &problem);
    if (team_agree(&bench->team, &problem)) {
        struct slot slot = requests_first(&bench->arena, operation, bench->settings.comms[id]);
        operation->collective->run(operation, bench->settings.comms[id], slot.send, slot.receive);
        requests_end();
        if (held_failed(&failed))
            problem_set(&problem, "use: not applicable here: %.200s", failed.text);
        team_agree(&bench->team, &problem);
    }
    held_end(&problem);
    if (bench->team.rank == 0 && problem_any(&problem))
        problem_set(&planner->subjects[index].refused, "%s", problem.text);
}

/* Settings that mean the MPI library at this size would be measured under another name. */
static void refuse_unserved(struct bench *bench, const struct operation *operation, const struct task *task,
                            struct planner *planner)
{
    for (int i = 0; i < task->count; i++) {
        struct problem problem = {""};
        int id = task->ids[i];
        const char *uses = bench->settings.uses[id];
        if (uses != NULL && !ours_apply(bench->settings.comms[id], uses, task->name, task->bytes, &problem) &&
            bench->team.rank == 0)
            problem_set(&planner->subjects[i].refused, "%s", problem.text);
        try_held(bench, operation, task, i, planner);
    }
}

static bool run_plan(struct bench *bench, const struct operation *operation, struct task *task, struct problem *problem)
{
    struct team *team = &bench->team;
    struct planner planner = {0};
    struct order order;
    if (team->rank == 0)
        planner_begin(&planner, &task->request, task->count, task->begin, first_slack(team), team->clock_error,
                      problem);
    bool good = team_agree(team, problem);
    if (good)
        refuse_unserved(bench, operation, task, &planner);
    while (good) {
        if (team->rank == 0)
            planner_next(&planner, clock_now(), &order);
        team_share(team, &order, sizeof order);
        if (order.kind == ORDER_FINISH)
            break;
        obey(bench, operation, task, &order, &planner);
    }
    for (int i = 0; good && i < task->count; i++) {
        double mean = 0;
        int calls = task->loop > 0 ? loop(bench, operation, task, i, &planner, &mean) : 0;
        if (team->rank == 0)
            answer(bench, task, task->ids[i], &planner.subjects[i], calls, mean);
    }
    planner_end(&planner);
    return good;
}

bool measure_command(struct bench *bench, struct command *command, struct problem *problem)
{
    struct team *team = &bench->team;
    struct task task = {.count = 0};
    struct operation operation;
    struct problem refusal = {""};
    if (!read_task(bench, command, &task, problem))
        return false;
    task.begin = clock_now();
    bench->arrival = task.arrival;
    bench->sweeps = task.sweeps;
    watchdog_arm(task.request.deadline, team->rank, "preparing to measure");
    team_synchronise_clocks(team);
    bool good = operation_prepare(&operation, task.name, team->rank, team->ranks, task.bytes, &task.partners, &refusal);
    if (team_agree(team, &refusal) && good && lay_out(bench, &operation, &task, &refusal))
        good = run_plan(bench, &operation, &task, problem);
    else
        for (int i = 0; team->rank == 0 && i < task.count; i++)
            answer_refused(bench, task.ids[i], refusal.text);
    operation_free(&operation);
    watchdog_disarm();
    return !problem_any(problem);
}
