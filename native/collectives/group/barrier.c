#include "group.h"

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
