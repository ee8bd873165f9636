#include <string.h>

#include "group.h"

/* The tree whose root is member `base`: neighbours are combined first, so that without wrapping around (base 0) the order
   is that of the members. `result` and `other` have room for the vector. */
static int tree(const struct group *group, int base, const void *send, char *result, char *other, int64_t count,
                const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - base + size) % size, error = MPI_SUCCESS;
    int64_t bytes = count * reduction->element;
    const void *mine = send;
    for (int bit = 1; bit < size && error == MPI_SUCCESS; bit *= 2) {
        if (place & bit)
            return fabric_send(fabric, mine, bytes, group_rank(group, (place - bit + base) % size), group->tag);
        if (place + bit >= size)
            continue;
        error = fabric_receive(fabric, other, bytes, group_rank(group, (place + bit + base) % size), group->tag);
        if (error == MPI_SUCCESS)
            reduction->combine(reduction, mine, other, result, count);
        mine = result;
    }
    if (mine != result && bytes > 0)
        memcpy(result, mine, (size_t)bytes);
    return error;
}

int group_reduce_tree(const struct group *group, int root, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction)
{
    int64_t bytes = count * reduction->element;
    int base = reduction->commutative ? root : 0;
    char *work = coll_scratch(group->comm, group->scratch, 2 * bytes);
    if (work == NULL && bytes > 0)
        return MPI_ERR_NO_MEM;
    char *result = group->me == root && base == root ? receive : work;
    int error = tree(group, base, send, result, work + bytes, count, reduction);
    if (error != MPI_SUCCESS || base == root)
        return error;
    if (group->me == base)
        return fabric_send(&group->comm->fabric, work, bytes, group_rank(group, root), group->tag);
    if (group->me == root)
        return fabric_receive(&group->comm->fabric, receive, bytes, group_rank(group, base), group->tag);
    return MPI_SUCCESS;
}
