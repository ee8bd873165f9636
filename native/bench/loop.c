#include "loop.h"

double loop_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, int calls)
{
    struct slot slot = arena_slot(&bench->arena, 0);
    team_barrier(&bench->team);
    int64_t begun = clock_now();
    for (int call = 0; call < calls; call++)
        operation->collective->run(operation, comm, slot.send, slot.receive);
    int64_t took = clock_now() - begun;
    team_maximum(&bench->team, &took, 1);
    return (double)took / calls / operation->collective->transfers;
}
