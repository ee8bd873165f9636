/* Reductions in order of the members' numbers, one after the other. Short vectors go to whoever combines them, all of each; of
 * longer ones every member combines a part, so that nobody receives more than about twice a vector. Only algorithms that keep
 * nothing in SCRATCH_WORK may ask for it. */
#include <stdlib.h>

#include "../reduction.h"
#include "group.h"

/* Bytes of all members' vectors together, up to which they go whole. */
static const int64_t whole_most = 32 << 10;

int group_combine(const struct group *group, const void *vectors, void *result, int64_t count,
                  const struct reduction *reduction)
{
    const void **of = malloc((size_t)group->size * sizeof *of);
    if (of == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < group->size; i++)
        of[i] = (const char *)vectors + i * count * reduction->element;
    reduction_fold(reduction, of, group->size, result, count);
    free(of);
    return MPI_SUCCESS;
}

static bool goes_whole(const struct group *group, int64_t bytes)
{
    return bytes <= whole_most / group->size;
}

/* Where each member's part of the vector begins, in elements, and where, and how many bytes it has. */
struct parts {
    int64_t *begin, *bytes, *at;
};

static bool parts_make(struct parts *parts, int size, int64_t count, int64_t element)
{
    parts->begin = malloc((3 * (size_t)size + 1) * sizeof *parts->begin);
    if (parts->begin == NULL)
        return false;
    parts->bytes = parts->begin + size + 1;
    parts->at = parts->bytes + size;
    for (int i = 0; i <= size; i++)
        parts->begin[i] = count / size * i + count % size * i / size;
    for (int i = 0; i < size; i++) {
        parts->bytes[i] = (parts->begin[i + 1] - parts->begin[i]) * element;
        parts->at[i] = parts->begin[i] * element;
    }
    return true;
}

int group_allreduce_ordered(const struct group *group, const void *send, void *receive, int64_t count,
                            const struct reduction *reduction)
{
    const int64_t bytes = count * reduction->element;
    if (goes_whole(group, bytes)) {
        char *work = coll_scratch(group->comm, SCRATCH_WORK, group->size * bytes + 1);
        const struct blocks blocks = {.each = bytes};
        int error = work == NULL ? MPI_ERR_NO_MEM : group_allgather(group, send, work, &blocks);
        return error != MPI_SUCCESS ? error : group_combine(group, work, receive, count, reduction);
    }
    struct parts parts;
    if (!parts_make(&parts, group->size, count, reduction->element))
        return MPI_ERR_NO_MEM;
    char *mine = (char *)receive + parts.at[group->me];
    /* Parts that others still want are not overwritten: what arrives is kept apart until all has been sent. */
    int error = group_reduce_scatter_linear(group, send, mine, parts.begin, reduction);
    const struct blocks blocks = {.bytes = parts.bytes, .at = parts.at};
    if (error == MPI_SUCCESS)
        error = group_allgather_ring(group, mine, receive, &blocks, 0, NULL);
    free(parts.begin);
    return error;
}

int group_reduce_ordered(const struct group *group, int root, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    const bool is_root = group->me == root;
    const int64_t bytes = count * reduction->element;
    struct parts parts;
    if (goes_whole(group, bytes)) {
        const struct blocks blocks = {.each = bytes};
        char *work = is_root ? coll_scratch(group->comm, SCRATCH_WORK, group->size * bytes + 1) : NULL;
        int error = is_root && work == NULL ? MPI_ERR_NO_MEM : group_gather(group, root, send, work, &blocks);
        return error != MPI_SUCCESS || !is_root ? error : group_combine(group, work, receive, count, reduction);
    }
    if (!parts_make(&parts, group->size, count, reduction->element))
        return MPI_ERR_NO_MEM;
    char *mine = is_root ? (char *)receive + parts.at[root]
                         : coll_scratch(group->comm, SCRATCH_WORK, parts.bytes[group->me] + 1);
    const struct blocks blocks = {.bytes = parts.bytes, .at = parts.at};
    int error = mine == NULL ? MPI_ERR_NO_MEM : group_reduce_scatter_linear(group, send, mine, parts.begin, reduction);
    if (error == MPI_SUCCESS)
        error = group_gather(group, root, mine, receive, &blocks);
    free(parts.begin);
    return error;
}
