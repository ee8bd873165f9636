#include "group.h"
#include "schedule.h"

int group_bcast_tree(const struct group *group, int root, void *data, int64_t bytes, int radix)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - root + size) % size, error = MPI_SUCCESS;
    int step = tree_step(size, place, radix);
    if (place != 0) {
        int parent = tree_parent(place, step, radix);
        error = fabric_receive(fabric, data, bytes, group_rank(group, (parent + root) % size), group->tag);
    }
    /* The largest subtrees first: they have the longest way to go. */
    for (int below = step / radix; below > 0; below /= radix)
        for (int i = 1; i < radix && place + i * below < size && error == MPI_SUCCESS; i++)
            error = fabric_send(fabric, data, bytes, group_rank(group, (place + i * below + root) % size), group->tag);
    return error;
}
