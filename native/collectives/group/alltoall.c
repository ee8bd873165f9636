#include <string.h>

#include "group.h"

int group_alltoallv(const struct group *group, const void *send, const struct blocks *out, void *receive,
                    const struct blocks *in)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    if (blocks_bytes(in, me) > 0)
        memcpy((char *)receive + blocks_at(in, me), (const char *)send + blocks_at(out, me),
               (size_t)blocks_bytes(in, me));
    for (int step = 1; step < size && error == MPI_SUCCESS; step++) {
        int to = (me + step) % size, from = (me - step + size) % size;
        error = fabric_exchange(&group->comm->fabric, (const char *)send + blocks_at(out, to), blocks_bytes(out, to),
                                group_rank(group, to), (char *)receive + blocks_at(in, from), blocks_bytes(in, from),
                                group_rank(group, from), group->tag);
    }
    return error;
}
