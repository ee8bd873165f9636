#include <stdlib.h>

#include "group.h"
#include "schedule.h"

/* Down a binomial tree, each place gets the blocks of its subtree. */
static int scatter(const struct group *group, int root, char *data, int64_t bytes)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, place = (group->me - root + size) % size, error = MPI_SUCCESS;
    int step = tree_step(size, place, 2);
    if (place != 0) {
        int last = (place + step < size ? place + step : size) - 1;
        int64_t from = part_of(bytes, place, size).from, to = part_of(bytes, last, size).to;
        int parent = (tree_parent(place, step, 2) + root) % size;
        error = fabric_receive(fabric, data + from, to - from, group_rank(group, parent), group->tag);
    }
    for (int below = step / 2; below > 0; below /= 2) {
        int child = place + below, last = (child + below < size ? child + below : size) - 1;
        if (child >= size || error != MPI_SUCCESS)
            continue;
        int64_t from = part_of(bytes, child, size).from, to = part_of(bytes, last, size).to;
        error = fabric_send(fabric, data + from, to - from, group_rank(group, (child + root) % size), group->tag);
    }
    return error;
}

/* Van de Geijn's: Barnett et al., Interprocessor collective communication library (1994). */
int group_bcast_scatter(const struct group *group, int root, void *data, int64_t bytes, const struct arrival *arrival)
{
    int size = group->size, error = scatter(group, root, data, bytes);
    int64_t *lengths = malloc(2 * (size_t)size * sizeof *lengths);
    if (lengths == NULL)
        return MPI_ERR_NO_MEM;
    for (int member = 0; member < size; member++) {
        struct span span = part_of(bytes, (member - root + size) % size, size);
        lengths[member] = span.to - span.from;
        lengths[size + member] = span.from;
    }
    struct blocks blocks = {.bytes = lengths, .at = lengths + size};
    if (error == MPI_SUCCESS)
        error = group_allgather_ring(group, (char *)data + blocks.at[group->me], data, &blocks, 0, arrival);
    free(lengths);
    return error;
}

/* Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005). */
int group_bcast_scatter_doubling(const struct group *group, int root, void *data, int64_t bytes)
{
    int size = group->size, error = scatter(group, root, data, bytes);
    int64_t *starts = malloc(((size_t)size + 1) * sizeof *starts);
    if (starts == NULL)
        return MPI_ERR_NO_MEM;
    for (int place = 0; place < size; place++)
        starts[place] = part_of(bytes, place, size).from;
    starts[size] = bytes;
    if (error == MPI_SUCCESS)
        error = group_allgather_doubling(group, root, data, starts);
    free(starts);
    return error;
}
