/* How a repetition is timed.

   With a CPU for every rank: when all have arrived, rank 0 proposes a start a little ahead; everybody waits for it on
   the common clock (counter.h, where that is one) and begins. The repetition takes from that start to the last rank's exit. A rank that begins more
   than the tolerance after the start spoils the repetition, which is then thrown away and counted ("round time":
   Hoefler, Schneider, Lumsdaine, PMEO-PDS 2008; Hunold, Carpen-Amarie, IEEE TPDS 27, 2016).

   With more ranks than CPUs nobody can be ready at an agreed time. Ranks then leave a barrier as they get a CPU, and
   the repetition takes from the first entry to the last exit: nothing of the operation's work is left out, at the price
   of counting the time some rank waited for its CPU before entering.

   Where ranks are to come late (arrival.h), each begins so much after the start, and the repetition takes from when the
   last was to begin (with more ranks than CPUs: from its entry): what is left to do once all have come. */
#include "batch.h"

#include <sched.h>
#include <string.h>

#include "counter.h"
#include "pattern.h"
#include "requests.h"

enum { STAMPS = 4 };

_Static_assert(TEAM_VALUES >= STAMPS * PLANNER_BATCH, "a batch's stamps are gathered in one go");

/* What rank 0 says instead of a start when there will be no further repetition. */
static const int64_t stop = INT64_MIN;

/* On the common clock: its ticks where that is the processor's counter, else ns. */
struct repetition {
    int64_t start, entry, leave;
    int64_t planned; /* entry */
    int64_t last;    /* when the last rank was to enter */
};

/* Collective the first time. */
static const struct counter *common_counter(struct bench *bench)
{
    static struct counter counter;
    if (!counter.known) {
        int64_t refused = bench->team.nodes > 1 || bench->oversubscribed || !counter_is_clock();
        counter_start(&counter);
        team_maximum_all(&bench->team, &refused, 1);
        counter.usable = refused == 0;
        counter.known = true;
    }
    if (counter.usable)
        counter_calibrate(&counter);
    return &counter;
}

/* So many ns on the common clock. */
static int64_t ticks(const struct counter *counter, int64_t nanoseconds)
{
    return counter->usable ? (int64_t)((double)nanoseconds / counter->tick) : nanoseconds;
}

/* A rank that is to come late leaves the CPU to whoever wants it meanwhile, who would else take it in the midst of the
   repetition; with more ranks than CPUs others need it to come at all. A rank that only waits for the common start keeps
   it: whoever got it would hold it for longer than the start is ahead, and every repetition would be late. */
static void wait_long(const struct bench *bench, const struct counter *counter, int64_t planned)
{
    const int64_t near = bench->oversubscribed ? 0 : ticks(counter, 20000);
    while ((counter->usable ? counter_now() : team_now(&bench->team)) < planned - near)
        sched_yield();
}

/* False when the batch ends here. */
static bool wait_for_start(struct bench *bench, const struct counter *counter, const struct order *order, bool go_on,
                           struct repetition *repetition)
{
    struct team *team = &bench->team;
    int64_t proposal = 0;
    team_gather(team);
    if (team->rank == 0 && !go_on)
        proposal = stop;
    else if (team->rank == 0 && !bench->oversubscribed)
        proposal = (counter->usable ? counter_now() : team_now(team)) + ticks(counter, order->slack);
    repetition->start = team_release(team, proposal);
    if (repetition->start == stop)
        return false;
    const struct arrival *arrival = &bench->arrival;
    int64_t late = ticks(counter, arrival_of(arrival, team->rank, team->ranks, bench->repetition));
    if (team->rank == 0)
        repetition->last = repetition->start + ticks(counter, arrival_last(arrival, team->ranks, bench->repetition));
    repetition->planned = (bench->oversubscribed && late > 0 ? team_now(team) : repetition->start) + late;
    if (bench->oversubscribed || late > 0)
        wait_long(bench, counter, repetition->planned);
    if (counter->usable)
        while ((repetition->entry = counter_now()) < repetition->planned)
            continue; /* nothing that would make it late */
    else
        while ((repetition->entry = team_now(team)) < repetition->planned)
            cpu_pause();
    return true;
}

/* From one reading of the common clock to another. */
static int64_t nanoseconds(const struct counter *counter, int64_t from, int64_t to)
{
    return counter->usable ? (int64_t)((double)(to - from) * counter->tick + 0.5) : to - from;
}

static void judge(const struct bench *bench, const struct counter *counter, const struct operation *operation,
                  const struct order *order, const struct repetition *repetitions, const int64_t *stamps,
                  struct outcome *outcome)
{
    for (int i = 0; i < outcome->count; i++) {
        int64_t last_exit = stamps[STAMPS * i];
        int64_t last_entry = stamps[STAMPS * i + 1];
        int64_t first_entry = -stamps[STAMPS * i + 2];
        int64_t latest = stamps[STAMPS * i + 3]; /* how much after its own time the latest began */
        int64_t begin = arrival_any(&bench->arrival) ? last_entry : first_entry;
        int64_t start = bench->oversubscribed ? begin : repetitions[i].last;
        outcome->times[i] = nanoseconds(counter, start, last_exit) / operation->collective->transfers;
        outcome->insides[i] /= bench->team.ranks * operation->collective->transfers;
        outcome->spreads[i] = nanoseconds(counter, first_entry, last_entry);
        outcome->late[i] = !bench->oversubscribed && nanoseconds(counter, 0, latest) > order->tolerance;
    }
}

/* Runs the repetitions; returns how many were recorded. */
static int repeat(struct bench *bench, const struct counter *counter, const struct operation *operation, MPI_Comm comm,
                  const struct order *order, struct repetition *repetitions)
{
    struct arena *arena = &bench->arena;
    int64_t last_begin = clock_now() + order->limit;
    for (int i = -order->skip; i < order->count; i++) {
        struct repetition *repetition = &repetitions[i < 0 ? 0 : i];
        struct slot slot = requests_next(arena, operation, comm);
        if (!arena->cold)
            pattern_touch(slot.send, operation->send_bytes, bench->repetition);
        if (bench->sweeps)
            sweep_caches(&bench->sweep);
        if (!wait_for_start(bench, counter, order, i < 1 || clock_now() < last_begin, repetition))
            return i;
        operation->collective->run(operation, comm, slot.send, slot.receive);
        repetition->leave = counter->usable ? counter_after() : team_now(&bench->team);
        /* A cold slot is written right after use, to be changed and out of the cache when its turn comes. */
        if (arena->cold)
            pattern_touch(slot.send, operation->send_bytes, bench->repetition);
        bench->repetition++;
    }
    return order->count;
}

void batch_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, const struct order *order,
               struct outcome *outcome)
{
    static struct repetition repetitions[PLANNER_BATCH];
    static int64_t stamps[STAMPS * PLANNER_BATCH];
    int64_t begin = clock_now();
    const struct counter *counter = common_counter(bench);
    team_synchronise_clocks(&bench->team);
    outcome->count = repeat(bench, counter, operation, comm, order, repetitions);
    for (int i = 0; i < outcome->count; i++) {
        outcome->insides[i] = nanoseconds(counter, repetitions[i].entry, repetitions[i].leave);
        stamps[STAMPS * i] = repetitions[i].leave;
        stamps[STAMPS * i + 1] = repetitions[i].entry;
        stamps[STAMPS * i + 2] = -repetitions[i].entry;
        stamps[STAMPS * i + 3] = repetitions[i].entry - repetitions[i].planned;
    }
    team_sum(&bench->team, outcome->insides, outcome->count);
    team_maximum(&bench->team, stamps, STAMPS * outcome->count);
    if (bench->team.rank == 0) {
        judge(bench, counter, operation, order, repetitions, stamps, outcome);
        outcome->wall = clock_now() - begin;
    }
}
