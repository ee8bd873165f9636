#include "fabric.h"

#include <stdlib.h>
#include <string.h>

#include "seat.h"
#include "watchdog.h"

enum { PAIRS = TEAM_VALUES / 4, WARM_UP = 2, EXCHANGES = 1000, BLOCKS = 6, TAG = 4 };

static const int64_t default_deadline = 60, longest_deadline = 600;

/* What one command asks for. */
struct round {
    int nodes[2 * PAIRS]; /* node 2i with node 2i + 1 */
    int count;            /* of nodes */
    int64_t bytes, exchanges, large, together, deadline;
};

/* This rank's part in it. */
struct end {
    int pair;    /* -1: none */
    int partner; /* rank */
    bool first;
};

static bool read_round(const struct team *team, struct command *command, struct round *round, struct problem *problem)
{
    const int64_t usual_bytes = 1 << 20, usual_exchanges = 40, usual_large = 4, no = 0;
    if (!command_numbers(command, "pairs", team->nodes - 1, round->nodes, 2 * PAIRS, &round->count, problem) ||
        !command_integer(command, "bytes", 1, INT64_C(1) << 26, &usual_bytes, &round->bytes, problem) ||
        !command_integer(command, "exchanges", 1, EXCHANGES, &usual_exchanges, &round->exchanges, problem) ||
        !command_integer(command, "large", 0, EXCHANGES, &usual_large, &round->large, problem) ||
        !command_integer(command, "together", 0, 1, &no, &round->together, problem) ||
        !command_integer(command, "deadline_s", 1, longest_deadline, &default_deadline, &round->deadline, problem) ||
        !command_complete(command, problem))
        return false;
    if (round->count % 2 != 0)
        return problem_set(problem, "pairs: %d nodes are not pairs", round->count);
    return true;
}

static struct end find_end(const struct team *team, const struct round *round)
{
    for (int i = 0; team->local == 0 && i < round->count; i++)
        if (round->nodes[i] == team->node)
            return (struct end){i / 2, team->leaders[round->nodes[i ^ 1]], i % 2 == 0};
    return (struct end){.pair = -1};
}

static void pass(struct team *team, const struct end *end, bool out, char *buffer, int64_t bytes)
{
    MPI_Request request;
    if (out)
        MPI_Isend(buffer, (int)bytes, MPI_BYTE, end->partner, TAG, team->comm, &request);
    else
        MPI_Irecv(buffer, (int)bytes, MPI_BYTE, end->partner, TAG, team->comm, &request);
    wait_request(&team->wait, &request);
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Whether the two shortest agree: neither was disturbed. Sorts. */
static bool settled(int64_t *times, int64_t count)
{
    qsort(times, (size_t)count, sizeof *times, by_value);
    return count > 1 && times[1] - times[0] <= times[0] / 32;
}

/* Half round trips, ns: the shortest and the median of `count`; of more, up to BLOCKS times as many, until it is settled
   where `steady`. The first end decides, and tells the other. */
static void exchange(struct team *team, const struct end *end, char *buffer, int64_t bytes, int64_t count, bool steady,
                     int64_t *shortest, int64_t *median)
{
    int64_t times[BLOCKS * EXCHANGES];
    int64_t warm_up = count / 4 < WARM_UP ? count / 4 : WARM_UP;
    char more = count > 0;
    int64_t done = 0;
    for (int block = 0; more && block < BLOCKS; block++) {
        for (int64_t i = block == 0 ? -warm_up : 0; i < count; i++) {
            int64_t begin = clock_now();
            pass(team, end, end->first, buffer, bytes);
            pass(team, end, !end->first, buffer, bytes);
            if (i >= 0)
                times[done++] = (clock_now() - begin) / 2;
        }
        more = !settled(times, done) && steady;
        pass(team, end, end->first, &more, 1);
    }
    if (done == 0)
        return;
    *shortest = times[0];
    *median = times[done / 2];
}

static void run_round(struct team *team, const struct round *round, const struct seat *seat, char *buffer,
                      int64_t *values)
{
    struct end end = find_end(team, round);
    int turns = round->together ? 1 : round->count / 2;
    for (int turn = 0; turn < turns; turn++) {
        team_barrier(team);
        if (end.pair < 0 || (!round->together && end.pair != turn))
            continue;
        /* Who waits for its turn sleeps where nodes share processors; who has it must not. */
        bool idle = team->wait.idle;
        team->wait.idle = false;
        seat_take(seat, 2 * (round->together ? end.pair : 0) + !end.first);
        int64_t mine[4] = {0};
        exchange(team, &end, buffer, 1, round->exchanges, false, &mine[0], &mine[1]);
        exchange(team, &end, buffer, round->bytes, round->large, true, &mine[2], &mine[3]);
        if (end.first)
            memcpy(&values[4 * end.pair], mine, sizeof mine);
        seat_leave(seat);
        team->wait.idle = idle;
    }
    team_maximum(team, values, 2 * round->count);
}

static void answer_round(struct bench *bench, const struct round *round, const int64_t *values)
{
    text_add(&bench->answer, "{\"fabric\":[");
    for (int i = 0; i < round->count / 2; i++) {
        text_add(&bench->answer, "%s[%d,%d", i > 0 ? "," : "", round->nodes[2 * i], round->nodes[2 * i + 1]);
        for (int k = 0; k < 4; k++)
            text_add(&bench->answer, ",%lld", (long long)values[4 * i + k]);
        text_add(&bench->answer, "]");
    }
    text_add(&bench->answer, "]}");
    text_send(&bench->answer);
}

bool fabric_command(struct bench *bench, struct command *command, struct problem *problem)
{
    struct team *team = &bench->team;
    struct round round;
    if (!read_round(team, command, &round, problem))
        return false;
    char *buffer = calloc(1, (size_t)round.bytes);
    int64_t *values = calloc(TEAM_VALUES, sizeof *values);
    if (buffer == NULL || values == NULL)
        problem_set(problem, "memory: not even %lld bytes for a message", (long long)round.bytes);
    bool good = team_agree(team, problem);
    if (good) {
        watchdog_arm(round.deadline * 1000000000, team->rank, "measuring between nodes");
        struct seat seat;
        seat_begin(&seat, bench->oversubscribed);
        team->wait.idle = bench->oversubscribed;
        run_round(team, &round, &seat, buffer, values);
        team->wait.idle = false;
        seat_end(&seat);
        watchdog_disarm();
        if (team->rank == 0)
            answer_round(bench, &round, values);
    }
    free(values);
    free(buffer);
    return good;
}
