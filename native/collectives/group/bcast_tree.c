#include "group.h"

int group_bcast_tree(const struct group *group, int root, void *data, int64_t bytes)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - root + size) % size, error = MPI_SUCCESS, bit = 1;
    for (; bit < size && (place & bit) == 0; bit *= 2)
        ;
    if (place != 0)
        error = fabric_receive(fabric, data, bytes, group_rank(group, (place - bit + root) % size), group->tag);
    /* The largest subtree first: it has the longest way to go. */
    for (bit /= 2; bit > 0 && error == MPI_SUCCESS; bit /= 2)
        if (place + bit < size)
            error = fabric_send(fabric, data, bytes, group_rank(group, (place + bit + root) % size), group->tag);
    return error;
}
