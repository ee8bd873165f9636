#include "group.h"

/* Place p has [starts[p], starts[p + 1]); after the step of a bit it has what all places have that differ from p in bits up
   to that one: one stretch, exchanged with one partner. */
int group_allgather_doubling(const struct group *group, int base, void *data, const int64_t *starts)
{
    int size = group->size, place = (group->me - base + size) % size, error = MPI_SUCCESS;
    char *at = data;
    for (int bit = 1; bit < size && error == MPI_SUCCESS; bit *= 2) {
        int partner = group_rank(group, ((place ^ bit) + base) % size), mine = place & ~(bit - 1), theirs = mine ^ bit;
        error = fabric_exchange(&group->comm->fabric, at + starts[mine], starts[mine + bit] - starts[mine], partner,
                                at + starts[theirs], starts[theirs + bit] - starts[theirs], partner, group->tag);
    }
    return error;
}
