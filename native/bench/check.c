#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "requests.h"

enum { POISON = 0x5a, STAGGER = 200000 /* ns */ };

/* Where the result of this rank lies. */
static char *result_of(const struct operation *operation, struct slot slot, size_t *bytes)
{
    *bytes = operation->receive_bytes ? operation->receive_bytes : operation->send_bytes;
    return operation->receive_bytes ? slot.receive : slot.send;
}

/* Nobody may leave a barrier before the last has come: one rank, another one each time, comes late on purpose. */
static int64_t check_barrier(struct bench *bench, const struct operation *operation, MPI_Comm comm, bool corrupt,
                             struct problem *problem)
{
    struct team *team = &bench->team;
    int late = (int)(bench->repetition % (uint64_t)team->ranks);
    team_synchronise_clocks(team);
    team_barrier(team);
    if (team->rank == late)
        clock_sleep(STAGGER);
    int64_t stamps[2];
    stamps[0] = team_now(team);
    operation->collective->run(operation, comm, NULL, NULL);
    stamps[1] = -team_now(team);
    if (corrupt)
        stamps[1] += 1000000000;
    team_maximum_all(team, stamps, 2);
    int64_t early = stamps[0] + stamps[1] - team->clock_error;
    if (early > 0)
        problem_set(problem, "a rank left the barrier %lld ns before rank %d came", (long long)early, late);
    team_agree(team, problem);
    return 0;
}

int64_t check_result(struct bench *bench, const struct operation *operation, MPI_Comm comm, enum fault_kind fault,
                     struct problem *problem)
{
    struct team *team = &bench->team;
    struct slot slot = requests_first(&bench->arena, operation, comm);
    struct problem found = {""};
    bool corrupt = fault == FAULT_WRONG && team->rank == team->ranks - 1;
    uint64_t repetition = 0;
    int64_t took = 0;
    if (strstr(operation->collective->name, "barrier") != NULL) {
        bench->repetition++;
        return check_barrier(bench, operation, comm, corrupt, problem);
    }
    /* A persistent one must be right when it is started again. */
    for (int starts = operation->collective->make != NULL ? 2 : 1; starts > 0; starts--) {
        repetition = bench->repetition++;
        if (operation->receive_bytes)
            memset(slot.receive, POISON, operation->receive_bytes);
        collective_data(operation->collective)->fill(operation, slot.send, repetition);
        team_barrier(team);
        int64_t begin = clock_now();
        operation->collective->run(operation, comm, slot.send, slot.receive);
        took = clock_now() - begin;
    }
    size_t bytes;
    char *result = result_of(operation, slot, &bytes);
    if (corrupt && bytes > 0)
        result[bytes / 2] ^= 0x55;
    if (!collective_data(operation->collective)->verify(operation, slot.send, slot.receive, repetition, &found)) {
        struct problem plain = found;
        found = (struct problem){""};
        problem_set(&found, "wrong result on rank %d: %.200s", team->rank, plain.text);
    }
    if (!team_agree(team, &found))
        problem_set(problem, "%s", found.text);
    return took;
}
