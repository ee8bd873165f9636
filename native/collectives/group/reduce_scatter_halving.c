#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "schedule.h"

/* One member's part in it. */
struct work {
    const struct group *group;
    const struct reduction *reduction;
    int64_t *starts; /* of each member's block in `data`, one after the other; size + 1 */
    char *data, *other;
};

/* Where the blocks of the members begin for which this number, and those above it, answer. */
static int64_t start_of(const struct work *work, int64_t number)
{
    return work->starts[folded_first(work->group->size, (int)number)];
}

static int halve(const struct work *work, struct folding folding)
{
    const struct group *group = work->group;
    const int64_t element = work->reduction->element;
    int error = MPI_SUCCESS, number = folding.number;
    for (int bit = folding.power / 2; bit > 0 && error == MPI_SUCCESS; bit /= 2) {
        struct span mine = halves_kept(number, bit), theirs = halves_kept(number ^ bit, bit);
        int partner = group_rank(group, unfold(group->size, number ^ bit));
        int64_t at = start_of(work, mine.from), bytes = start_of(work, mine.to) - at, out = start_of(work, theirs.from);
        char *here = work->data + at;
        error = fabric_exchange(&group->comm->fabric, work->data + out, start_of(work, theirs.to) - out, partner,
                                work->other, bytes, partner, group->tag);
        if (error != MPI_SUCCESS || bytes == 0)
            continue;
        if (number & bit)
            work->reduction->combine(work->reduction, work->other, here, here, bytes / element);
        else
            work->reduction->combine(work->reduction, here, work->other, here, bytes / element);
    }
    return error;
}

/* What is beyond a power of two gives its vector away, and gets its block in the end. */
static int fold_and_halve(const struct work *work, char *receive)
{
    const struct group *group = work->group;
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t all = work->starts[group->size];
    struct folding folding = fold(group->size, group->me);
    int partner = folding.partner < 0 ? -1 : group_rank(group, folding.partner), error = MPI_SUCCESS;
    int64_t own = work->starts[group->me + 1] - work->starts[group->me];
    if (folding.number < 0) {
        error = fabric_send(fabric, work->data, all, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, receive, own, partner, group->tag) : error;
    }
    if (partner >= 0) {
        error = fabric_receive(fabric, work->other, all, partner, group->tag);
        if (error == MPI_SUCCESS && all > 0)
            work->reduction->combine(work->reduction, work->data, work->other, work->data,
                                     all / work->reduction->element);
    }
    if (error == MPI_SUCCESS)
        error = halve(work, folding);
    if (error == MPI_SUCCESS && own > 0)
        memcpy(receive, work->data + work->starts[group->me], (size_t)own);
    if (error != MPI_SUCCESS || partner < 0)
        return error;
    int64_t at = work->starts[folding.partner];
    return fabric_send(fabric, work->data + at, work->starts[folding.partner + 1] - at, partner, group->tag);
}

/* Recursive halving, the farthest first, so that everybody ends with its own block. */
int group_reduce_scatter_halving(const struct group *group, const void *send, void *receive,
                                 const struct blocks *blocks, const struct reduction *reduction)
{
    struct work work = {.group = group, .reduction = reduction};
    work.starts = malloc(((size_t)group->size + 1) * sizeof *work.starts);
    if (work.starts == NULL)
        return MPI_ERR_NO_MEM;
    work.starts[0] = 0;
    for (int i = 0; i < group->size; i++)
        work.starts[i + 1] = work.starts[i] + blocks_bytes(blocks, i);
    const int64_t all = work.starts[group->size];
    work.data = coll_scratch(group->comm, group->scratch, 2 * all + 1);
    int error = work.data == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        work.other = work.data + all;
        for (int i = 0; i < group->size; i++)
            if (blocks_bytes(blocks, i) > 0)
                memcpy(work.data + work.starts[i], (const char *)send + blocks_at(blocks, i),
                       (size_t)blocks_bytes(blocks, i));
        error = fold_and_halve(&work, receive);
    }
    free(work.starts);
    return error;
}
