#include <stdlib.h>

#include "group.h"

/* What all members have for this one at a time. */
static const int64_t work_most = 4 << 20;

/* Of every member's block the bytes from `from` on, at most `most`, in `piece`. */
static void cut(const struct blocks *blocks, int size, int64_t from, int64_t most, struct blocks *piece, int64_t *where)
{
    for (int i = 0; i < size; i++) {
        int64_t left = blocks_bytes(blocks, i) - from, bytes = left < most ? left : most;
        where[i] = bytes > 0 ? bytes : 0;
        where[size + i] = blocks_at(blocks, i) + from;
    }
    *piece = (struct blocks){.bytes = where, .at = where + size};
}

/* Everybody gets his part of everybody's vector and combines these in order: a message a pair for each piece. */
int group_reduce_scatter_pairwise(const struct group *group, const void *send, void *receive,
                                  const struct blocks *blocks, const struct reduction *reduction)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    int64_t element = reduction->element, longest = 0, most = work_most / element / size;
    for (int i = 0; i < size; i++)
        longest = blocks_bytes(blocks, i) > longest ? blocks_bytes(blocks, i) : longest;
    most = (most < 1 ? 1 : most) * element;
    most = most < longest ? most : longest;
    int64_t *where = malloc(2 * (size_t)size * sizeof *where);
    char *work = coll_scratch(group->comm, group->scratch, size * most + 1);
    if (where == NULL || work == NULL)
        error = MPI_ERR_NO_MEM;
    for (int64_t from = 0; from < longest && error == MPI_SUCCESS; from += most) {
        struct blocks out, in = {.each = 0};
        cut(blocks, size, from, most, &out, where);
        in.each = where[me];
        error = group_alltoall_pairwise(group, send, &out, work, &in);
        if (error == MPI_SUCCESS && in.each > 0)
            error = group_combine(group, work, (char *)receive + from, in.each / element, reduction);
    }
    free(where);
    return error;
}

int group_reduce_scatter_linear(const struct group *group, const void *send, void *receive, const int64_t *at,
                                const struct reduction *reduction)
{
    const size_t size = (size_t)group->size;
    int64_t *bytes = malloc(2 * size * sizeof *bytes), *where = bytes + size;
    if (bytes == NULL)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (at[i + 1] - at[i]) * reduction->element;
        where[i] = at[i] * reduction->element;
    }
    const struct blocks blocks = {.bytes = bytes, .at = where};
    int error = group_reduce_scatter_pairwise(group, send, receive, &blocks, reduction);
    free(bytes);
    return error;
}

int group_reduce_scatter(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                         const struct reduction *reduction)
{
    int64_t all = 0;
    for (int i = 0; i < group->size; i++)
        all += blocks_bytes(blocks, i);
    const bool halves = reduce_scatter_halves(reduction->commutative, group->size, (double)all);
    return (halves ? group_reduce_scatter_halving : group_reduce_scatter_pairwise)(group, send, receive, blocks,
                                                                                   reduction);
}
