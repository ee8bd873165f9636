#include <stdlib.h>
#include <time.h>

#include "fabric.h"
#include "seat.h"
#include "watchdog.h"

enum { CHUNKS = 256, BLOCKS = 8, SLICE = TEAM_VALUES / 3 };

static const int64_t deadline = 120000000000;

/* What a node's processor took for a chunk of work, ns: the shortest, the median, and of the processor's own time. */
struct speed {
    int64_t shortest, median, processor;
};

static int64_t processor_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Every step needs the one before: a few cycles each, whatever the memory does. */
static uint64_t work(uint64_t state, int64_t steps)
{
    for (int64_t i = 0; i < steps; i++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static struct speed compute(int64_t steps, int64_t chunks)
{
    int64_t wall[BLOCKS * CHUNKS], processor[BLOCKS * CHUNKS];
    int64_t done = 0;
    volatile uint64_t state = (uint64_t)clock_now();
    for (int block = 0; block < BLOCKS; block++) {
        for (int64_t i = 0; i < chunks; i++, done++) {
            int64_t begin = clock_now(), own = processor_now();
            state = work(state, steps);
            processor[done] = processor_now() - own;
            wall[done] = clock_now() - begin;
        }
        qsort(wall, (size_t)done, sizeof *wall, by_value);
        if (done > 1 && wall[1] - wall[0] <= wall[0] / 32) /* the two shortest agree: neither was disturbed */
            break;
    }
    qsort(processor, (size_t)done, sizeof *processor, by_value);
    return (struct speed){wall[0], wall[done / 2], processor[done / 2]};
}

static void answer_nodes(struct bench *bench, struct speed mine)
{
    struct team *team = &bench->team;
    text_add(&bench->answer, "{\"compute\":[");
    for (int low = 0; low < team->nodes; low += SLICE) {
        int count = team->nodes - low < SLICE ? team->nodes - low : SLICE;
        int64_t values[TEAM_VALUES] = {0};
        int place = team->node - low;
        if (team->local == 0 && place >= 0 && place < count) {
            values[3 * place] = mine.shortest;
            values[3 * place + 1] = mine.median;
            values[3 * place + 2] = mine.processor;
        }
        team_maximum(team, values, 3 * count);
        for (int i = 0; team->rank == 0 && i < count; i++)
            text_add(&bench->answer, "%s[%d,%lld,%lld,%lld]", low + i > 0 ? "," : "", low + i, (long long)values[3 * i],
                     (long long)values[3 * i + 1], (long long)values[3 * i + 2]);
    }
    text_add(&bench->answer, "]}");
    if (team->rank == 0)
        text_send(&bench->answer);
    text_free(&bench->answer);
}

bool compute_command(struct bench *bench, struct command *command, struct problem *problem)
{
    struct team *team = &bench->team;
    const int64_t usual_steps = 1 << 20, usual_chunks = 32;
    int64_t steps, chunks;
    if (!command_integer(command, "steps", 1, 1 << 30, &usual_steps, &steps, problem) ||
        !command_integer(command, "chunks", 1, CHUNKS, &usual_chunks, &chunks, problem) ||
        !command_complete(command, problem))
        return false;
    watchdog_arm(deadline, team->rank, "measuring the processors of the nodes");
    /* Nodes that share processors compute one after the other; else all at once. */
    struct seat seat;
    seat_begin(&seat, bench->oversubscribed);
    team->wait.idle = bench->oversubscribed;
    int turns = bench->oversubscribed ? team->nodes : 1;
    struct speed mine = {0};
    for (int turn = 0; turn < turns; turn++) {
        team_barrier(team);
        if (team->local == 0 && (turns == 1 || turn == team->node))
            mine = compute(steps, chunks);
    }
    team->wait.idle = false;
    seat_end(&seat);
    answer_nodes(bench, mine);
    watchdog_disarm();
    return true;
}
