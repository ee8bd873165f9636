#include "core_state.h"

#include <stdlib.h>

#include "watchdog.h"

static const int64_t deadline = 30000000000;

/* A probe comes with every measurement, so it is short: six runs of each kind, of which one that nothing interrupted is enough. */
enum { RUNS = 24 };

/* Flags of its own, made once: a probe shall cost a millisecond, not a new segment. */
static bool probe_make(struct probe *probe, struct team *team, struct problem *problem)
{
    if (probe->made)
        return true;
    size_t each = page_round(sizeof(struct flag_rank));
    probe->flags = (struct flags){.rank = team->local, .count = team->locals};
    bool good = segment_create(&probe->segment, team->node_comm, 0, each, problem);
    if (good) {
        probe->flags.ranks = malloc((size_t)team->locals * sizeof *probe->flags.ranks);
        if (probe->flags.ranks == NULL) {
            problem_set(problem, "memory: not even for a list of ranks");
            good = false;
        }
    }
    if (!team_agree(team, problem)) {
        if (good)
            core_state_end(probe);
        return false;
    }
    for (int rank = 0; rank < team->locals; rank++)
        probe->flags.ranks[rank] = (struct flag_rank *)((char *)probe->segment.base + (size_t)rank * each);
    probe->made = true;
    return true;
}

bool core_state_command(struct bench *bench, struct command *command, struct problem *problem)
{
    struct team *team = &bench->team;
    if (!command_complete(command, problem))
        return false;
    int64_t picoseconds = 0;
    watchdog_arm(deadline, team->rank, "probing the state of the machine");
    if (!bench->oversubscribed) {
        if (!probe_make(&bench->probe, team, problem)) {
            watchdog_disarm();
            return false;
        }
        if (team->locals > 1)
            picoseconds = (int64_t)(1000 * flags_exchange(&bench->probe.flags, RUNS));
        team_maximum_all(team, &picoseconds, 1);
    }
    watchdog_disarm();
    if (team->rank == 0) {
        if (picoseconds > 0)
            text_add(&bench->answer, "{\"state\":1,\"flags_ns\":%.3f}", (double)picoseconds / 1000);
        else
            text_add(&bench->answer, "{\"state\":1,\"flags_ns\":null}");
        text_send(&bench->answer);
    }
    return true;
}

void core_state_end(struct probe *probe)
{
    segment_free(&probe->segment);
    free(probe->flags.ranks);
    *probe = (struct probe){.made = false};
}
