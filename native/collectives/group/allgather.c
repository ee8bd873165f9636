#include <string.h>

#include "group.h"

/* Blocks up to this many bytes are worth being sent more than once to save messages. */
static const int64_t small_block = 4096;

static void own_block(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    char *place = (char *)receive + blocks_at(blocks, group->me);
    int64_t bytes = blocks_bytes(blocks, group->me);
    if (bytes > 0 && place != send)
        memcpy(place, send, (size_t)bytes);
}

int group_allgather_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                         const struct arrival *arrival)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, error = MPI_SUCCESS;
    own_block(group, send, receive, blocks);
    int right = group_rank(group, (group->me + 1) % size), left = group_rank(group, (group->me + size - 1) % size);
    for (int step = 0; step < size - 1 && error == MPI_SUCCESS; step++) {
        int out = (group->me - step + size) % size, in = (group->me - step - 1 + size) % size;
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        error = fabric_start_receive(fabric, (char *)receive + blocks_at(blocks, in), blocks_bytes(blocks, in), left,
                                     group->tag, &requests[0]);
        if (error == MPI_SUCCESS)
            error = fabric_start_send(fabric, (char *)receive + blocks_at(blocks, out), blocks_bytes(blocks, out),
                                      right, group->tag, &requests[1]);
        if (error == MPI_SUCCESS)
            error = arrival_tell(arrival, out);
        if (error == MPI_SUCCESS)
            error = fabric_wait(2, requests);
    }
    return error == MPI_SUCCESS ? arrival_tell(arrival, (group->me + 1) % size) : error;
}

int group_allgather_bruck(const struct group *group, const void *send, void *receive, int64_t each)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    char *work = coll_scratch(group->comm, SCRATCH_MESSAGES, size * each);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    if (each > 0)
        memcpy(work, send, (size_t)each);
    /* work[i] is the block of member me + i. */
    for (int have = 1; have < size && error == MPI_SUCCESS; have *= 2) {
        int64_t bytes = (have < size - have ? have : size - have) * each;
        error = fabric_exchange(&group->comm->fabric, work, bytes, group_rank(group, (me - have + size) % size),
                                work + have * each, bytes, group_rank(group, (me + have) % size), group->tag);
    }
    if (each > 0) {
        memcpy((char *)receive + me * each, work, (size_t)((size - me) * each));
        memcpy(receive, work + (size - me) * each, (size_t)(me * each));
    }
    return error;
}

int group_allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    if (blocks->bytes == NULL && blocks->each <= small_block && group->size > 2)
        return group_allgather_bruck(group, send, receive, blocks->each);
    return group_allgather_ring(group, send, receive, blocks, NULL);
}
