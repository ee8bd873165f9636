/* What a reduction makes of numbers whose sum depends on the order: whether two launches give the same bits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "pattern.h"
#include "watchdog.h"

static const int64_t deadline = 60000000000, bytes_most = INT64_C(256) << 20;

/* Of very different sizes and both signs. */
static void fill(double *numbers, int64_t count, int rank, bool contributes)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = pattern_mix(pattern_mix((uint64_t)i) + (uint64_t)rank);
        double value = (double)(bits >> 11) / 9007199254740992.0 - 0.5;
        numbers[i] = contributes ? value * (double)(UINT64_C(1) << bits % 40) : 0;
    }
}

static uint64_t hash(const double *numbers, int64_t count)
{
    uint64_t made = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        made = pattern_mix(made + bits);
    }
    return made;
}

static bool digest(struct bench *bench, bool to_all, int64_t count, int64_t numbers, uint64_t *made,
                   struct problem *problem)
{
    const struct team *team = &bench->team;
    const int root = 0;
    double *room = malloc(2 * (size_t)count * sizeof *room);
    struct problem found = {""};
    if (room == NULL)
        problem_set(&found, "out of memory");
    if (!team_agree(&bench->team, &found)) {
        free(room);
        return problem_set(problem, "%s", found.text);
    }
    double *result = room + count;
    fill(room, count, team->rank, team->rank < numbers);
    if (to_all)
        MPI_Allreduce(room, result, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce(room, result, (int)count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    *made = team->rank == root || to_all ? hash(result, count) : 0;
    free(room);
    uint64_t roots = *made;
    team_share(&bench->team, &roots, sizeof roots);
    if (to_all && roots != *made)
        problem_set(&found, "rank %d has another result than rank 0", team->rank);
    *made = roots;
    return team_agree(&bench->team, &found) || problem_set(problem, "%s", found.text);
}

bool digest_command(struct bench *bench, struct command *command, struct problem *problem)
{
    const char *name = command_text(command, "coll");
    const int64_t all = INT32_MAX;
    int64_t bytes, numbers;
    uint64_t made = 0;
    if (name == NULL || (strcmp(name, "allreduce") != 0 && strcmp(name, "reduce") != 0))
        return problem_set(problem, "coll is allreduce or reduce");
    if (!command_integer(command, "bytes", 1, bytes_most, NULL, &bytes, problem) ||
        !command_integer(command, "numbers", 1, INT32_MAX, &all, &numbers, problem) ||
        !command_complete(command, problem))
        return false;
    const int64_t element = sizeof(double), count = (bytes + element - 1) / element;
    watchdog_arm(deadline, bench->team.rank, "combining");
    bool good = digest(bench, strcmp(name, "allreduce") == 0, count, numbers, &made, problem);
    watchdog_disarm();
    if (good && bench->team.rank == 0) {
        text_add(&bench->answer, "{\"digest\":\"%016" PRIx64 "\"}", made);
        text_send(&bench->answer);
    }
    return good;
}
