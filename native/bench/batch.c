/* How a repetition is timed.

   With a CPU for every rank: when all have arrived, rank 0 proposes a start a little ahead; everybody waits for it on the common
   clock and begins. The repetition takes from that start to the last rank's exit. A rank that begins more than the tolerance after
   the start spoils the repetition, which is then thrown away and counted ("round time": Hoefler, Schneider, Lumsdaine, PMEO-PDS 2008;
   Hunold, Carpen-Amarie, IEEE TPDS 27, 2016).

   With more ranks than CPUs nobody can be ready at an agreed time. Ranks then leave a barrier as they get a CPU, and the repetition takes
   from the first entry to the last exit: nothing of the operation's work is left out, at the price of counting the time some rank waited for
   its CPU before entering. */
#include "batch.h"

#include <string.h>

#include "pattern.h"

/* What is gathered over all ranks as maxima. */
struct stamps {
    int64_t last_exit[PLANNER_BATCH];
    int64_t last_entry[PLANNER_BATCH];
    int64_t first_entry[PLANNER_BATCH]; /* negated */
};

_Static_assert(sizeof(struct stamps) <= TEAM_VALUES * sizeof(int64_t), "a batch's stamps are gathered in one go");

static int64_t wait_for_start(struct bench *bench, const struct order *order, int64_t *start)
{
    struct team *team = &bench->team;
    team_gather(team);
    if (bench->oversubscribed) {
        *start = team_release(team, 0);
        return team_now(team);
    }
    *start = team_release(team, team->rank == 0 ? team_now(team) + order->slack : 0);
    int64_t now;
    while ((now = team_now(team)) < *start)
        cpu_pause();
    return now;
}

static void judge(const struct bench *bench, const struct operation *operation, const struct order *order,
                  const struct stamps *stamps, const int64_t *starts, struct outcome *outcome)
{
    for (int i = 0; i < order->count; i++) {
        int64_t first_entry = -stamps->first_entry[i];
        int64_t start = bench->oversubscribed ? first_entry : starts[i];
        outcome->times[i] = (stamps->last_exit[i] - start) / operation->collective->transfers;
        outcome->spreads[i] = stamps->last_entry[i] - first_entry;
        outcome->late[i] = !bench->oversubscribed && stamps->last_entry[i] > start + order->tolerance;
    }
}

void batch_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, const struct order *order,
               struct outcome *outcome)
{
    static struct stamps stamps;
    static int64_t starts[PLANNER_BATCH];
    struct team *team = &bench->team;
    /* Cold slots are touched after use, so that they are cold again, and changed, when their turn comes. */
    bool touch_after = bench->arena.cold;
    int64_t begin = clock_now();
    team_synchronise_clocks(team);
    for (int i = -order->skip; i < order->count; i++) {
        struct slot slot = arena_next(&bench->arena);
        int64_t start;
        if (!touch_after)
            pattern_touch(slot.send, operation->send_bytes, bench->repetition++);
        int64_t entry = wait_for_start(bench, order, &start);
        operation->collective->run(operation, comm, slot.send, slot.receive);
        int64_t leave = team_now(team);
        if (touch_after)
            pattern_touch(slot.send, operation->send_bytes, bench->repetition++);
        if (i < 0)
            continue;
        starts[i] = start;
        stamps.last_exit[i] = leave;
        stamps.last_entry[i] = entry;
        stamps.first_entry[i] = -entry;
    }
    team_maximum(team, (int64_t *)&stamps, sizeof stamps / sizeof(int64_t));
    if (team->rank == 0) {
        judge(bench, operation, order, &stamps, starts, outcome);
        outcome->wall = clock_now() - begin;
    }
}
