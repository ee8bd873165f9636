#include "limits.h"

#include <stdlib.h>
#include <string.h>

#include "copy_speed.h"
#include "link.h"
#include "watchdog.h"

enum { SMALLEST = 4096, ALL_PAIRS = 16, EXCHANGE_RUNS = 120 };

static const int64_t deadline = 120000000000;

/* Which pairs are tried: all of few ranks; of many, rank 0 with every other and a sample of neighbours at growing
 * distance. */
static bool wanted(int a, int b, int ranks)
{
    return ranks <= ALL_PAIRS || a == 0 || (a % (ranks / 8) == 0 && ((b - a) & (b - a - 1)) == 0);
}

static void add_pairs(struct copy_speed *copies, struct text *text)
{
    struct flags *flags = &copies->flags;
    double best = 0;
    const char *comma = "";
    text_add(text, "\"pairs\":[");
    for (int a = 0; a < flags->count; a++) {
        for (int b = a + 1; b < flags->count; b++) {
            if (!wanted(a, b, flags->count))
                continue;
            double nanoseconds = flags_latency(flags, a, b);
            text_add(text, "%s[%d,%d,%.1f]", comma, a, b, nanoseconds);
            best = best == 0 || nanoseconds < best ? nanoseconds : best;
            comma = ",";
        }
    }
    text_add(text, "],\"latency_ns\":%.1f,\"flags_ns\":%.1f", best, flags_exchange(flags, EXCHANGE_RUNS));
}

static void add_copies(struct copy_speed *copies, struct text *text)
{
    const char *comma = "";
    text_add(text, ",\"copy\":[");
    for (size_t bytes = SMALLEST; bytes <= copies->most; bytes *= 2) {
        double one = copy_speed_bandwidth(copies, bytes, COPIES_ONE);
        double all = copy_speed_bandwidth(copies, bytes, COPIES_ALL);
        double own = copy_speed_bandwidth(copies, bytes, COPIES_OWN);
        text_add(text, "%s{\"bytes\":%zu,\"gbps_one\":%.3f,\"gbps_all\":%.3f,\"gbps_own\":%.3f}", comma, bytes, one,
                 all, own);
        comma = ",";
    }
    text_add(text, "]");
}

static void measure_node(struct copy_speed *copies, struct text *text)
{
    if (copies->flags.count > 1)
        add_pairs(copies, text);
    else
        text_add(text, "\"pairs\":[],\"latency_ns\":null,\"flags_ns\":null");
    add_copies(copies, text);
}

static const char *measure_all(struct bench *bench, size_t most)
{
    struct team *team = &bench->team;
    struct text *text = &bench->answer;
    struct copy_speed copies;
    if (bench->oversubscribed)
        return "more ranks than CPUs: limits would be those of the scheduler";
    struct problem problem = {""};
    bool got = copy_speed_create(&copies, team->node_comm, most);
    if (!got)
        problem_set(&problem, "memory: not even a few KiB of shared memory");
    if (!team_agree(team, &problem)) {
        if (got)
            copy_speed_free(&copies);
        return "memory: a node has not even a few KiB of shared memory left";
    }
    text_add(text, "{\"limits\":1,");
    if (team->node == 0)
        measure_node(&copies, text);
    if (team->nodes > 1) {
        int64_t smallest = -(int64_t)copies.most;
        team_maximum_all(team, &smallest, 1);
        link_measure(team, text, copies.private_copy, copy_speed_own(&copies), (size_t)-smallest);
    }
    text_add(text, "}");
    copy_speed_free(&copies);
    return NULL;
}

bool limits_command(struct bench *bench, struct command *command, struct problem *problem)
{
    const int64_t usual = 16 << 20;
    int64_t most;
    if (!command_integer(command, "max_bytes", SMALLEST, INT64_C(1) << 30, &usual, &most, problem) ||
        !command_complete(command, problem))
        return false;
    watchdog_arm(deadline, bench->team.rank, "measuring the limits of the machine");
    const char *unavailable = measure_all(bench, (size_t)most);
    if (unavailable != NULL) {
        text_add(&bench->answer, "{\"limits\":1,\"unavailable\":");
        text_quote(&bench->answer, unavailable);
        text_add(&bench->answer, "}");
    }
    if (bench->team.rank == 0)
        text_send(&bench->answer);
    text_free(&bench->answer);
    watchdog_disarm();
    return true;
}
