#include "group.h"
#include "schedule.h"

/* The bytes of the subtree of `place`, which has up to `places` places. */
struct part {
    char *data;
    int64_t bytes;
};

static struct part part(const struct group *group, void *data, const int64_t *starts, int place, int places)
{
    int end = place + places < group->size ? place + places : group->size;
    return (struct part){(char *)data + starts[place], starts[end] - starts[place]};
}

static int rank_at(const struct group *group, int root, int place)
{
    return group_rank(group, (root + place) % group->size);
}

int group_gather_tree(const struct group *group, int root, void *data, const int64_t *starts)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - root + size) % size, error = MPI_SUCCESS;
    for (int bit = 1; bit < size && error == MPI_SUCCESS; bit *= 2) {
        if (place & bit) {
            struct part mine = part(group, data, starts, place, bit);
            return fabric_send(fabric, mine.data, mine.bytes, rank_at(group, root, place - bit), group->tag);
        }
        if (place + bit >= size)
            continue;
        struct part other = part(group, data, starts, place + bit, bit);
        error = fabric_receive(fabric, other.data, other.bytes, rank_at(group, root, place + bit), group->tag);
    }
    return error;
}

int group_scatter_tree(const struct group *group, int root, void *data, const int64_t *starts)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - root + size) % size, step = tree_step(size, place, 2);
    int error = MPI_SUCCESS;
    if (place > 0) {
        struct part mine = part(group, data, starts, place, step);
        error = fabric_receive(fabric, mine.data, mine.bytes, rank_at(group, root, place - step), group->tag);
    }
    for (int bit = step / 2; bit > 0 && error == MPI_SUCCESS; bit /= 2) {
        if (place + bit >= size)
            continue;
        struct part other = part(group, data, starts, place + bit, bit);
        error = fabric_send(fabric, other.data, other.bytes, rank_at(group, root, place + bit), group->tag);
    }
    return error;
}
