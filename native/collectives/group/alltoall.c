#include <stdlib.h>
#include <string.h>

#include "group.h"

static void own_block(const struct group *group, const void *send, const struct blocks *out, void *receive,
                      const struct blocks *in)
{
    int64_t bytes = blocks_bytes(in, group->me);
    if (bytes > 0)
        memcpy((char *)receive + blocks_at(in, group->me), (const char *)send + blocks_at(out, group->me),
               (size_t)bytes);
}

int group_alltoall_pairwise(const struct group *group, const void *send, const struct blocks *out, void *receive,
                            const struct blocks *in)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    own_block(group, send, out, receive, in);
    for (int step = 1; step < size && error == MPI_SUCCESS; step++) {
        int to = (me + step) % size, from = (me - step + size) % size;
        error = fabric_exchange(&group->comm->fabric, (const char *)send + blocks_at(out, to), blocks_bytes(out, to),
                                group_rank(group, to), (char *)receive + blocks_at(in, from), blocks_bytes(in, from),
                                group_rank(group, from), group->tag);
    }
    return error;
}

/* A window that slides: before a partner is taken up, the one `most` before it is done with. */
int group_alltoall_spread(const struct group *group, const void *send, const struct blocks *out, void *receive,
                          const struct blocks *in, int most)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    most = most < size ? most : size;
    MPI_Request *requests = malloc(2 * (size_t)most * sizeof *requests);
    if (requests == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < 2 * most; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int step = 1; step < size && error == MPI_SUCCESS; step++) {
        MPI_Request *slot = requests + 2 * (step % most);
        int to = (me + step) % size, from = (me - step + size) % size;
        error = fabric_wait(2, slot);
        if (error == MPI_SUCCESS)
            error = fabric_start_receive(fabric, (char *)receive + blocks_at(in, from), blocks_bytes(in, from),
                                         group_rank(group, from), group->tag, &slot[0]);
        if (error == MPI_SUCCESS)
            error = fabric_start_send(fabric, (const char *)send + blocks_at(out, to), blocks_bytes(out, to),
                                      group_rank(group, to), group->tag, &slot[1]);
    }
    own_block(group, send, out, receive, in);
    if (error == MPI_SUCCESS)
        error = fabric_wait(2 * most, requests);
    free(requests);
    return error;
}
