#include "loop.h"

#include "requests.h"

double loop_run(struct bench *bench, const struct operation *operation, MPI_Comm comm, int calls)
{
    struct slot slot = requests_first(&bench->arena, operation, comm);
    team_barrier(&bench->team);
    int64_t begun = clock_now();
    for (int call = 0; call < calls; call++)
        operation->collective->run(operation, comm, slot.send, slot.receive);
    int64_t took = clock_now() - begun;
    team_maximum(&bench->team, &took, 1);
    return (double)took / calls / operation->collective->transfers;
}
