#include "between.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

struct between between_make(MPI_Comm comm, struct random *shared)
{
    enum { TAG = 8 };
    struct between made = {.comm = MPI_COMM_NULL};
    int rank, ranks;
    MPI_Comm group;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (ranks < 2)
        return made;
    const int first = 1 + random_below(shared, ranks - 1); /* of the second part */
    made.is_first = rank < first;
    MPI_Comm_split(comm, made.is_first, rank, &group);
    MPI_Intercomm_create(group, 0, comm, made.is_first ? first : 0, TAG, &made.comm);
    MPI_Comm_free(&group);
    return made;
}

void between_free(struct between *between)
{
    if (between->comm != MPI_COMM_NULL)
        MPI_Comm_free(&between->comm);
}

enum { MOST = 64, ROOM = 2 * MOST };

/* The call itself, or that of the library underneath. */
#define EITHER(name, ...) (tested ? MPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__))

static int call(int which, bool tested, const int *from, int *to, int count, int root, MPI_Comm comm)
{
    MPI_Request request;
    int error;
    switch (which) {
    case 0: return EITHER(Bcast, root == MPI_ROOT ? (int *)(uintptr_t)from : to, count, MPI_INT, root, comm);
    case 1: return EITHER(Allreduce, from, to, count, MPI_INT, MPI_SUM, comm);
    case 2: return EITHER(Allgather, from, count, MPI_INT, to, count, MPI_INT, comm);
    case 3: return EITHER(Alltoall, from, count, MPI_INT, to, count, MPI_INT, comm);
    case 4: return EITHER(Reduce, from, to, count, MPI_INT, MPI_SUM, root, comm);
    case 5: return EITHER(Gather, from, count, MPI_INT, to, count, MPI_INT, root, comm);
    case 6: return EITHER(Scatter, from, count, MPI_INT, to, count, MPI_INT, root, comm);
    case 7: return EITHER(Barrier, comm);
    case 8: error = EITHER(Iallreduce, from, to, count, MPI_INT, MPI_SUM, comm, &request); break;
    case 9: error = EITHER(Iallgather, from, count, MPI_INT, to, count, MPI_INT, comm, &request); break;
    default:
        error = EITHER(Ibcast, root == MPI_ROOT ? (int *)(uintptr_t)from : to, count, MPI_INT, root, comm, &request);
    }
    return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

/* As MPI has it between groups: rank 0 of the first. */
static int root_of(const struct between *between)
{
    int rank;
    PMPI_Comm_rank(between->comm, &rank);
    return !between->is_first ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

bool between_run(const struct between *between, struct trial *trial)
{
    enum { CALLS = 4, WHICH = 11 };
    const int root = root_of(between);
    bool good = true;
    int theirs, many;
    PMPI_Comm_remote_size(between->comm, &theirs);
    PMPI_Comm_size(between->comm, &many);
    many = many > theirs ? many : theirs;
    int *memory = calloc(3, (size_t)many * ROOM * sizeof *memory);
    int *from = memory, *to[2] = {memory + many * ROOM, memory + 2 * many * ROOM};
    for (int i = 0; i < CALLS; i++) {
        const int which = random_below(&trial->shared, WHICH), count = 1 + random_below(&trial->shared, MOST);
        for (int k = 0; k < many * MOST; k++)
            from[k] = random_below(&trial->own, 1000);
        for (int way = 0; way < 2; way++)
            good = call(which, way == 0, from, to[way], count, root, between->comm) == MPI_SUCCESS && good;
        good = memcmp(to[0], to[1], (size_t)many * ROOM * sizeof *memory) == 0 && good;
        trial->tally->of[DRAWN_BETWEEN_GROUPS]++;
        snprintf(trial->words, sizeof trial->words, "call %d of %d ints", which, count);
    }
    free(memory);
    return good;
}
