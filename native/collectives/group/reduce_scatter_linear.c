#include <stdlib.h>
#include <string.h>

#include "group.h"

/* Everybody gets his part of everybody's vector and combines these in order: one message a pair, as much memory as one
   vector. */
int group_reduce_scatter_linear(const struct group *group, const void *send, void *receive, const int64_t *at,
                                const struct reduction *reduction)
{
    int size = group->size, me = group->me;
    int64_t element = reduction->element, own = at[me + 1] - at[me];
    int64_t *where = malloc(2 * (size_t)size * sizeof *where);
    char *work = coll_scratch(group->comm, SCRATCH_MESSAGES, size * own * element);
    if (where == NULL || (work == NULL && own > 0)) {
        free(where);
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < size; i++) {
        where[i] = (at[i + 1] - at[i]) * element;
        where[size + i] = at[i] * element;
    }
    struct blocks out = {.bytes = where, .at = where + size}, in = {.each = own * element};
    int error = group_alltoall_pairwise(group, send, &out, work, &in);
    free(where);
    if (error != MPI_SUCCESS || own == 0)
        return error;
    if (size == 1)
        memcpy(receive, work, (size_t)(own * element));
    else
        reduction->combine(reduction, work, work + own * element, receive, own);
    for (int i = 2; i < size; i++)
        reduction->combine(reduction, receive, work + i * own * element, receive, own);
    return MPI_SUCCESS;
}
