#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "schedule.h"

/* One member's part in it. `data` and `other`: the blocks of all members, where `starts` says; size + 1. */
struct work {
    const struct group *group;
    const struct reduction *reduction;
    int64_t *starts;
    char *data, *other;
    int count;
    MPI_Request *requests;
};

/* The blocks of the members for which a number answers: from where to where. */
static struct span span_of(const struct work *work, int number)
{
    const int size = work->group->size;
    int last = number + 1 < power_below(size) ? folded_first(size, number + 1) : size;
    return (struct span){work->starts[folded_first(size, number)], work->starts[last]};
}

/* Of the numbers that are like this one in the bits below `stride`, a message each. */
static int start(struct work *work, int number, int stride, int partner, bool sends)
{
    const struct fabric *fabric = &work->group->comm->fabric;
    int error = MPI_SUCCESS;
    for (int one = number & (stride - 1); one < power_below(work->group->size) && error == MPI_SUCCESS; one += stride) {
        struct span span = span_of(work, one);
        MPI_Request *request = &work->requests[work->count++];
        error = sends ? fabric_start_send(fabric, work->data + span.from, span.to - span.from, partner,
                                          work->group->tag, request)
                      : fabric_start_receive(fabric, work->other + span.from, span.to - span.from, partner,
                                             work->group->tag, request);
    }
    return error;
}

/* The nearest first, so that most goes between neighbours, and whoever combines has a stretch of them, in order. */
static int halve(struct work *work, int number)
{
    const struct reduction *reduction = work->reduction;
    const int size = work->group->size, power = power_below(size);
    int error = MPI_SUCCESS;
    for (int bit = 1; bit < power && error == MPI_SUCCESS; bit *= 2) {
        const int partner = group_rank(work->group, unfold(size, number ^ bit));
        work->count = 0;
        error = start(work, number, 2 * bit, partner, false);
        if (error == MPI_SUCCESS)
            error = start(work, number ^ bit, 2 * bit, partner, true);
        int waited = fabric_wait(&work->group->comm->fabric, work->count, work->requests);
        error = error == MPI_SUCCESS ? waited : error;
        for (int one = number & (2 * bit - 1); one < power && error == MPI_SUCCESS; one += 2 * bit) {
            struct span span = span_of(work, one);
            char *here = work->data + span.from, *there = work->other + span.from;
            const int64_t count = (span.to - span.from) / reduction->element;
            if (count > 0)
                reduction->combine(reduction, number & bit ? there : here, number & bit ? here : there, here, count);
        }
    }
    return error;
}

/* What is beyond a power of two gives its vector away, and gets its block in the end. */
static int fold_and_halve(struct work *work, char *receive)
{
    const struct group *group = work->group;
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t all = work->starts[group->size], own = work->starts[group->me + 1] - work->starts[group->me];
    struct folding folding = fold(group->size, group->me);
    int partner = folding.partner < 0 ? -1 : group_rank(group, folding.partner), error = MPI_SUCCESS;
    if (folding.number < 0) {
        error = fabric_send(fabric, work->data, all, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, receive, own, partner, group->tag) : error;
    }
    if (partner >= 0)
        error = fabric_receive(fabric, work->other, all, partner, group->tag);
    if (partner >= 0 && error == MPI_SUCCESS && all > 0)
        work->reduction->combine(work->reduction, work->data, work->other, work->data, all / work->reduction->element);
    if (error == MPI_SUCCESS)
        error = halve(work, folding.number);
    if (error == MPI_SUCCESS && own > 0)
        memcpy(receive, work->data + work->starts[group->me], (size_t)own);
    if (error != MPI_SUCCESS || partner < 0)
        return error;
    int64_t at = work->starts[folding.partner];
    return fabric_send(fabric, work->data + at, work->starts[folding.partner + 1] - at, partner, group->tag);
}

int group_reduce_scatter_near(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction)
{
    const size_t size = (size_t)group->size;
    struct work work = {.group = group, .reduction = reduction};
    work.starts = malloc((size + 1) * sizeof *work.starts);
    work.requests = malloc(2 * size * sizeof *work.requests);
    int error = work.starts == NULL || work.requests == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        work.starts[0] = 0;
        for (size_t i = 0; i < size; i++)
            work.starts[i + 1] = work.starts[i] + blocks_bytes(blocks, (int)i);
        work.data = coll_scratch(group->comm, group->scratch, 2 * work.starts[size] + 1);
        error = work.data == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    if (error == MPI_SUCCESS) {
        work.other = work.data + work.starts[size];
        for (int i = 0; i < group->size; i++)
            if (blocks_bytes(blocks, i) > 0)
                memcpy(work.data + work.starts[i], (const char *)send + blocks_at(blocks, i),
                       (size_t)blocks_bytes(blocks, i));
        error = fold_and_halve(&work, receive);
    }
    free(work.starts);
    free(work.requests);
    return error;
}
