#include <stdlib.h>

#include "group.h"

/* What all members have for this one at a time. */
static const int64_t work_most = 4 << 20;

/* Of every member's part the elements from `from` on, at most `most`, in `blocks`. */
static void cut(const int64_t *at, int size, int64_t from, int64_t most, int64_t element, struct blocks *blocks,
                int64_t *where)
{
    for (int i = 0; i < size; i++) {
        int64_t left = at[i + 1] - at[i] - from, count = left < most ? left : most;
        where[i] = (count > 0 ? count : 0) * element;
        where[size + i] = (at[i] + from) * element;
    }
    *blocks = (struct blocks){.bytes = where, .at = where + size};
}

/* Everybody gets his part of everybody's vector and combines these in order: a message a pair for each piece. */
int group_reduce_scatter_linear(const struct group *group, const void *send, void *receive, const int64_t *at,
                                const struct reduction *reduction)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    int64_t element = reduction->element, longest = 0, most = work_most / element / size;
    for (int i = 0; i < size; i++)
        longest = at[i + 1] - at[i] > longest ? at[i + 1] - at[i] : longest;
    most = most < 1 ? 1 : most < longest ? most : longest;
    int64_t *where = malloc(2 * (size_t)size * sizeof *where);
    char *work = coll_scratch(group->comm, group->scratch, size * most * element + 1);
    if (where == NULL || work == NULL)
        error = MPI_ERR_NO_MEM;
    for (int64_t from = 0; from < longest && error == MPI_SUCCESS; from += most) {
        struct blocks out, in = {.each = 0};
        cut(at, size, from, most, element, &out, where);
        in.each = where[me];
        error = group_alltoall_pairwise(group, send, &out, work, &in);
        if (error == MPI_SUCCESS && in.each > 0)
            error = group_combine(group, work, (char *)receive + from * element, in.each / element, reduction);
    }
    free(where);
    return error;
}
