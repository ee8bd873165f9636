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

/* Of a reduction: which it is, the elements of its vector, and of the result those that count. */
struct sum {
    bool to_all, scatters;
    int64_t vector, told;
    int *counts, *offsets; /* of the ranks' blocks of a reduce_scatter */
};

/* As even as elements allow. */
static void divide(struct sum *sum, int ranks)
{
    int at = 0;
    for (int rank = 0; rank < ranks; rank++) {
        sum->counts[rank] = (int)(sum->vector / ranks + (rank < sum->vector % ranks));
        sum->offsets[rank] = at;
        at += sum->counts[rank];
    }
}

static void combine(const struct sum *sum, const char *name, const double *numbers, double *result, int rank, int root)
{
    const int count = (int)sum->vector;
    double *block = sum->scatters ? result + sum->offsets[rank] : NULL;
    if (sum->to_all)
        MPI_Allreduce(numbers, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!sum->scatters)
        MPI_Reduce(numbers, result, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    else if (strcmp(name, "reduce_scatter") == 0)
        MPI_Reduce_scatter(numbers, block, sum->counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter_block(numbers, block, sum->counts[rank], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum->scatters)
        MPI_Gatherv(rank == root ? MPI_IN_PLACE : (void *)block, sum->counts[rank], MPI_DOUBLE, result, sum->counts,
                    sum->offsets, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static bool digest(struct bench *bench, struct sum *sum, const char *name, int64_t numbers, uint64_t *made,
                   struct problem *problem)
{
    const struct team *team = &bench->team;
    const int root = 0;
    double *room = malloc(2 * (size_t)sum->vector * sizeof *room);
    sum->counts = malloc(2 * (size_t)team->ranks * sizeof *sum->counts);
    struct problem found = {""};
    if (room == NULL || sum->counts == NULL)
        problem_set(&found, "out of memory");
    if (!team_agree(&bench->team, &found)) {
        free(room);
        free(sum->counts);
        return problem_set(problem, "%s", found.text);
    }
    double *result = room + sum->vector;
    sum->offsets = sum->counts + team->ranks;
    divide(sum, team->ranks);
    fill(room, sum->vector, team->rank, team->rank < numbers);
    combine(sum, name, room, result, team->rank, root);
    *made = team->rank == root || sum->to_all ? hash(result, sum->told) : 0;
    free(room);
    free(sum->counts);
    uint64_t roots = *made;
    team_share(&bench->team, &roots, sizeof roots);
    if (sum->to_all && roots != *made)
        problem_set(&found, "rank %d has another result than rank 0", team->rank);
    *made = roots;
    return team_agree(&bench->team, &found) || problem_set(problem, "%s", found.text);
}

/* False: it is none of the four. `count` and `numbers`: as asked for. */
static bool understand(struct sum *sum, const char *name, int64_t count, int64_t numbers, int ranks)
{
    static const char *const known[] = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known = is_known || strcmp(name, known[i]) == 0;
    *sum = (struct sum){.to_all = strcmp(name, known[0]) == 0,
                        .scatters = strncmp(name, known[2], strlen(known[2])) == 0,
                        .vector = count,
                        .told = count};
    if (strcmp(name, known[3]) == 0) { /* a block of each rank; fewer ranks that have numbers have fewer blocks */
        sum->vector = count * ranks;
        sum->told = count * (numbers < ranks ? numbers : ranks);
    }
    return is_known;
}

bool digest_command(struct bench *bench, struct command *command, struct problem *problem)
{
    const char *name = command_text(command, "coll");
    const int64_t all = INT32_MAX, element = sizeof(double);
    int64_t bytes, numbers;
    uint64_t made = 0;
    struct sum sum;
    if (!command_integer(command, "bytes", 1, bytes_most, NULL, &bytes, problem) ||
        !command_integer(command, "numbers", 1, INT32_MAX, &all, &numbers, problem) ||
        !command_complete(command, problem))
        return false;
    if (name == NULL || !understand(&sum, name, (bytes + element - 1) / element, numbers, bench->team.ranks))
        return problem_set(problem, "coll is allreduce, reduce, reduce_scatter or reduce_scatter_block");
    if (sum.vector * element > bytes_most)
        return problem_set(problem, "bytes: %d blocks are more than %" PRId64 " bytes", bench->team.ranks, bytes_most);
    watchdog_arm(deadline, bench->team.rank, "combining");
    bool good = digest(bench, &sum, name, numbers, &made, problem);
    watchdog_disarm();
    if (good && bench->team.rank == 0) {
        text_add(&bench->answer, "{\"digest\":\"%016" PRIx64 "\"}", made);
        text_send(&bench->answer);
    }
    return good;
}
