#include <stdlib.h>
#include <string.h>

#include "rounds.h"

/* Every member's block goes down a tree of its own, and all trees are alike but for where they begin: a member at `distance` from
 * the one at its root has, before a round of this stride, the block if the stride times the factor divides the distance, and sends it
 * to those 1, 2 ... factor - 1 strides further on. So nothing comes twice, whatever the number of members. Far ones first, where there
 * is least to send. S. Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale (2025), which has pairs;
 * here as many at once as the costs of a message say. Its buffers are bounded as it sends few blocks at a time; ours as a call that would
 * take more memory is done in pieces (../run.c). */
struct work {
    const struct group *group;
    const struct blocks *blocks;
    struct radices radices;
    char *pack, *room;
};

static int root_at(const struct work *work, int distance)
{
    return (int)(((int64_t)work->group->me - distance + work->group->size) % work->group->size);
}

static int64_t stride_of(const struct work *work, int round)
{
    int64_t stride = 1;
    for (int i = 0; i < round; i++)
        stride *= work->radices.factor[i];
    return stride;
}

/* Bytes of the blocks at distances from, from + step ... of a member `ahead` further on. */
static int64_t bytes_from(const struct work *work, int64_t from, int64_t step, int64_t ahead)
{
    int64_t bytes = 0;
    const int size = work->group->size;
    for (int64_t distance = from; distance < size; distance += step)
        bytes += blocks_bytes(work->blocks, (int)((work->group->me + ahead - distance + 2 * (int64_t)size) % size));
    return bytes;
}

static int member_at(const struct work *work, int64_t ahead)
{
    return (int)((work->group->me + ahead + work->group->size) % work->group->size);
}

static int gather(const struct work *work, char *all)
{
    const int size = work->group->size;
    int error = MPI_SUCCESS;
    for (int i = work->radices.rounds - 1; i >= 0 && error == MPI_SUCCESS; i--) {
        const int64_t stride = stride_of(work, i), step = stride * work->radices.factor[i];
        struct round round = {.group = work->group};
        char *next = work->room, *end = work->pack;
        for (int k = 1; k < work->radices.factor[i] && k * stride < size && error == MPI_SUCCESS; k++) {
            int64_t bytes = bytes_from(work, k * stride, step, 0);
            error = round_receive(&round, next, bytes, member_at(work, -k * stride));
            next += bytes;
        }
        for (int64_t distance = 0; distance < size; distance += step) {
            const int root = root_at(work, (int)distance);
            if (blocks_bytes(work->blocks, root) > 0)
                memcpy(end, all + blocks_at(work->blocks, root), (size_t)blocks_bytes(work->blocks, root));
            end += blocks_bytes(work->blocks, root);
        }
        for (int k = 1; k < work->radices.factor[i] && k * stride < size && error == MPI_SUCCESS; k++)
            error = round_send(&round, work->pack, bytes_from(work, k * stride, step, k * stride),
                               member_at(work, k * stride));
        error = round_finish(&round, error);
        next = work->room;
        for (int k = 1; k < work->radices.factor[i] && error == MPI_SUCCESS; k++)
            for (int64_t distance = k * stride; distance < size; distance += step) {
                const int root = root_at(work, (int)distance);
                if (blocks_bytes(work->blocks, root) > 0)
                    memcpy(all + blocks_at(work->blocks, root), next, (size_t)blocks_bytes(work->blocks, root));
                next += blocks_bytes(work->blocks, root);
            }
    }
    return error;
}

/* The same backwards: what was received is sent, and combined. `at`: where in `all` the block of each member is. */
static int scatter(const struct work *work, char *all, const int64_t *at, const struct reduction *reduction)
{
    const int size = work->group->size;
    int error = MPI_SUCCESS;
    for (int i = 0; i < work->radices.rounds && error == MPI_SUCCESS; i++) {
        const int64_t stride = stride_of(work, i), step = stride * work->radices.factor[i];
        struct round round = {.group = work->group};
        char *next = work->room, *end = work->pack;
        for (int k = 1; k < work->radices.factor[i] && k * stride < size && error == MPI_SUCCESS; k++) {
            int64_t bytes = bytes_from(work, k * stride, step, k * stride);
            error = round_receive(&round, next, bytes, member_at(work, k * stride));
            next += bytes;
        }
        for (int k = 1; k < work->radices.factor[i] && k * stride < size && error == MPI_SUCCESS; k++) {
            char *begin = end;
            for (int64_t distance = k * stride; distance < size; distance += step) {
                const int root = root_at(work, (int)distance);
                if (blocks_bytes(work->blocks, root) > 0)
                    memcpy(end, all + at[root], (size_t)blocks_bytes(work->blocks, root));
                end += blocks_bytes(work->blocks, root);
            }
            error = round_send(&round, begin, end - begin, member_at(work, -k * stride));
        }
        error = round_finish(&round, error);
        next = work->room;
        for (int k = 1; k < work->radices.factor[i] && error == MPI_SUCCESS; k++)
            for (int64_t distance = 0; distance + k * stride < size; distance += step) {
                const int root = root_at(work, (int)distance);
                const int64_t bytes = blocks_bytes(work->blocks, root);
                if (bytes > 0)
                    reduction->combine(reduction, all + at[root], next, all + at[root], bytes / reduction->element);
                next += bytes;
            }
    }
    return error;
}

/* `room`: for what comes at once. */
static int start(struct work *work, const struct group *group, const struct blocks *blocks, int64_t all, int64_t room)
{
    const struct radices *radices = rounds_of_call(group->comm, group->size, all, rounds_covering);
    *work = (struct work){.group = group, .blocks = blocks};
    if (radices == NULL)
        return MPI_ERR_NO_MEM;
    work->radices = *radices;
    work->pack = coll_scratch(group->comm, group->scratch, all + room + 1);
    work->room = work->pack + all;
    return work->pack == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int64_t bytes_of_all(const struct group *group, const struct blocks *blocks)
{
    int64_t all = 0;
    for (int i = 0; i < group->size; i++)
        all += blocks_bytes(blocks, i);
    return all;
}

int group_allgather_pat(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    struct work work;
    const int64_t all = bytes_of_all(group, blocks);
    int error = start(&work, group, blocks, all, all);
    char *own = (char *)receive + blocks_at(blocks, group->me);
    if (error == MPI_SUCCESS && own != send && blocks_bytes(blocks, group->me) > 0)
        memcpy(own, send, (size_t)blocks_bytes(blocks, group->me));
    return error == MPI_SUCCESS ? gather(&work, receive) : error;
}

/* As many blocks come at once as there are members, at most, but some of them several times. */
static int64_t room_for(const struct group *group, const struct blocks *blocks)
{
    int64_t longest = 0;
    for (int i = 0; i < group->size; i++)
        longest = blocks_bytes(blocks, i) > longest ? blocks_bytes(blocks, i) : longest;
    return longest * group->size;
}

static int reduce_scatter(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                          const struct reduction *reduction)
{
    struct work work;
    const int64_t all = bytes_of_all(group, blocks), room = room_for(group, blocks);
    int64_t *at = malloc((size_t)group->size * sizeof *at), next = 0;
    int error = at == NULL ? MPI_ERR_NO_MEM : start(&work, group, blocks, all, room + all);
    if (error == MPI_SUCCESS) {
        char *sums = work.room + room;
        for (int i = 0; i < group->size; i++) {
            at[i] = next;
            if (blocks_bytes(blocks, i) > 0)
                memcpy(sums + next, (const char *)send + blocks_at(blocks, i), (size_t)blocks_bytes(blocks, i));
            next += blocks_bytes(blocks, i);
        }
        error = scatter(&work, sums, at, reduction);
        if (error == MPI_SUCCESS && blocks_bytes(blocks, group->me) > 0)
            memcpy(receive, sums + at[group->me], (size_t)blocks_bytes(blocks, group->me));
    }
    free(at);
    return error;
}

int group_reduce_scatter_pat(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                             const struct reduction *reduction)
{
    /* On all members: all know all blocks. */
    if (room_for(group, blocks) > 2 * bytes_of_all(group, blocks))
        return group_reduce_scatter_pairwise(group, send, receive, blocks, reduction);
    return reduce_scatter(group, send, receive, blocks, reduction);
}

int group_allreduce_pat(const struct group *group, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction)
{
    const size_t size = (size_t)group->size;
    int64_t *bytes = malloc(2 * size * sizeof *bytes);
    if (bytes == NULL)
        return MPI_ERR_NO_MEM;
    int64_t *at = bytes + size;
    for (int i = 0; i < group->size; i++) {
        struct span part = part_of(count, i, group->size);
        bytes[i] = (part.to - part.from) * reduction->element;
        at[i] = part.from * reduction->element;
    }
    const struct blocks blocks = {.bytes = bytes, .at = at};
    char *own = (char *)receive + at[group->me];
    int error = reduce_scatter(group, send, own, &blocks, reduction);
    if (error == MPI_SUCCESS)
        error = group_allgather_pat(group, own, receive, &blocks);
    free(bytes);
    return error;
}
