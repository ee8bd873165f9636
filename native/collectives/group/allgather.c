#include <stdlib.h>
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

/* `starts[i]`: where, of the blocks from the own one on around, the i-th begins. */
static void add_up(const struct group *group, const struct blocks *blocks, int64_t *starts)
{
    starts[0] = 0;
    for (int i = 0; i < group->size; i++)
        starts[i + 1] = starts[i] + blocks_bytes(blocks, (group->me + i) % group->size);
}

static int bruck(const struct group *group, char *work, const int64_t *starts)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    for (int have = 1; have < size && error == MPI_SUCCESS; have *= 2) {
        int more = have < size - have ? have : size - have;
        error = fabric_exchange(&group->comm->fabric, work, starts[more], group_rank(group, (me - have + size) % size),
                                work + starts[have], starts[have + more] - starts[have],
                                group_rank(group, (me + have) % size), group->tag);
    }
    return error;
}

int group_allgather_bruck(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    int size = group->size, error = MPI_ERR_NO_MEM;
    int64_t *starts = malloc(((size_t)size + 1) * sizeof *starts);
    char *work = NULL;
    if (starts != NULL) {
        add_up(group, blocks, starts);
        work = coll_scratch(group->comm, SCRATCH_MESSAGES, starts[size] + 1);
    }
    if (work != NULL) {
        memcpy(work, send, (size_t)starts[1]);
        error = bruck(group, work, starts);
        for (int i = 0; i < size; i++)
            memcpy((char *)receive + blocks_at(blocks, (group->me + i) % size), work + starts[i],
                   (size_t)(starts[i + 1] - starts[i]));
    }
    free(starts);
    return error;
}

int group_allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    if (blocks->bytes == NULL && blocks->each <= small_block && group->size > 2)
        return group_allgather_bruck(group, send, receive, blocks);
    return group_allgather_ring(group, send, receive, blocks, NULL);
}
