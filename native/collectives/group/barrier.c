#include "rounds.h"

/* Dissemination: after step k everybody has heard of 2^(k+1) members. Hensgen, Finkel, Manber: Two algorithms for barrier
   synchronization (1988). */
int group_barrier(const struct group *group)
{
    int error = MPI_SUCCESS;
    char out = 0, in;
    for (int distance = 1; distance < group->size && error == MPI_SUCCESS; distance *= 2) {
        int to = (group->me + distance) % group->size, from = (group->me - distance + group->size) % group->size;
        error = fabric_exchange(&group->comm->fabric, &out, 1, group_rank(group, to), &in, 1, group_rank(group, from),
                                group->tag);
    }
    return error;
}

/* The same with k - 1 messages at once in each round, after which everybody has heard of k times as many: k as the costs say.
   Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand (2006). */
int group_barrier_radix(const struct group *group)
{
    int error = MPI_SUCCESS, radix = rounds_disseminating(group->comm, group->size).radix;
    char out = 0, in[RADIX_MOST];
    for (int64_t distance = 1; distance < group->size && error == MPI_SUCCESS; distance *= radix) {
        struct round round = {.group = group};
        for (int64_t i = 1; i < radix && i * distance < group->size && error == MPI_SUCCESS; i++)
            error = round_receive(&round, &in[i], 1, (int)((group->me - i * distance + group->size) % group->size));
        for (int64_t i = 1; i < radix && i * distance < group->size && error == MPI_SUCCESS; i++)
            error = round_send(&round, &out, 1, (int)((group->me + i * distance) % group->size));
        error = round_finish(&round, error);
    }
    return error;
}
