#include <string.h>

#include "group.h"

static const char *own_part(const void *send, const struct blocks *blocks, int member)
{
    return (const char *)send + blocks_at(blocks, member);
}

/* Once around: a block begins at the member after its own, and each adds its part. Patarasuk, Yuan: Bandwidth optimal all-reduce
   algorithms for clusters of workstations (2009). */
int group_reduce_scatter_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction)
{
    const int size = group->size, me = group->me;
    const int right = group_rank(group, (me + 1) % size), left = group_rank(group, (me + size - 1) % size);
    int64_t longest = 0, own = blocks_bytes(blocks, me);
    int error = MPI_SUCCESS;
    for (int i = 0; i < size; i++)
        longest = blocks_bytes(blocks, i) > longest ? blocks_bytes(blocks, i) : longest;
    char *room = coll_scratch(group->comm, group->scratch, 2 * longest + 1);
    if (room == NULL)
        return MPI_ERR_NO_MEM;
    const char *out = own_part(send, blocks, (me + size - 1) % size);
    for (int step = 0; step + 1 < size && error == MPI_SUCCESS; step++) {
        const int sent = (me + 2 * size - step - 1) % size, come = (me + 2 * size - step - 2) % size;
        char *in = room + step % 2 * longest;
        error = fabric_exchange(&group->comm->fabric, out, blocks_bytes(blocks, sent), right, in,
                                blocks_bytes(blocks, come), left, group->tag);
        if (error == MPI_SUCCESS && blocks_bytes(blocks, come) > 0)
            reduction->combine(reduction, in, own_part(send, blocks, come), in,
                               blocks_bytes(blocks, come) / reduction->element);
        out = in;
    }
    if (error == MPI_SUCCESS && own > 0)
        memcpy(receive, size > 1 ? out : own_part(send, blocks, me), (size_t)own);
    return error;
}
