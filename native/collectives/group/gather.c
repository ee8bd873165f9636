#include <stdlib.h>
#include <string.h>

#include "group.h"

/* The root's part: a message with every other, all at once. */
static int with_all(const struct group *group, int root, char *data, const struct blocks *blocks, bool sends)
{
    MPI_Request *requests = malloc((size_t)group->size * sizeof *requests);
    if (requests == NULL)
        return MPI_ERR_NO_MEM;
    int error = MPI_SUCCESS, started = 0;
    for (int i = 0; i < group->size && error == MPI_SUCCESS; i++) {
        int member = (root + i) % group->size;
        if (member == root)
            continue;
        if (sends)
            error =
                fabric_start_send(&group->comm->fabric, data + blocks_at(blocks, member), blocks_bytes(blocks, member),
                                  group_rank(group, member), group->tag, &requests[started++]);
        else
            error = fabric_start_receive(&group->comm->fabric, data + blocks_at(blocks, member),
                                         blocks_bytes(blocks, member), group_rank(group, member), group->tag,
                                         &requests[started++]);
    }
    if (error == MPI_SUCCESS)
        error = fabric_wait(&group->comm->fabric, started, requests);
    free(requests);
    return error;
}

int group_gather(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks)
{
    int64_t own = blocks_bytes(blocks, group->me);
    if (group->me != root)
        return fabric_send(&group->comm->fabric, send, own, group_rank(group, root), group->tag);
    char *place = (char *)receive + blocks_at(blocks, root);
    if (own > 0 && place != send)
        memcpy(place, send, (size_t)own);
    return with_all(group, root, receive, blocks, false);
}

int group_scatter(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks)
{
    int64_t own = blocks_bytes(blocks, group->me);
    if (group->me != root)
        return fabric_receive(&group->comm->fabric, receive, own, group_rank(group, root), group->tag);
    const char *place = (const char *)send + blocks_at(blocks, root);
    if (own > 0 && place != receive)
        memcpy(receive, place, (size_t)own);
    return with_all(group, root, (char *)(uintptr_t)send, blocks, true);
}
