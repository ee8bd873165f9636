#include <stdlib.h>
#include <string.h>

#include "rounds.h"

/* Blocks in the order of radix_place() of those numbers that answer for them: a member beyond those that take part is taken in by a
   neighbour first (fold_onto()), and gets what is its own last. */
struct work {
    const struct group *group;
    struct radices radices;
    struct folding folding;
    int64_t *starts; /* by place: where in `data`; taking + 1 */
    int64_t *at;     /* by member: where in `data` its block is */
    char *data, *other;
};

static int64_t bytes_of(const struct work *work, struct span places)
{
    return work->starts[places.to] - work->starts[places.from];
}

static int64_t all_of(const struct work *work)
{
    return work->starts[work->radices.taking];
}

static int member_of(const struct work *work, int number)
{
    return unfold_from(work->group->size, work->radices.taking, number);
}

static int work_start(struct work *work, const struct group *group, const struct blocks *blocks, rounds_find *find)
{
    int64_t all = 0;
    for (int i = 0; i < group->size; i++)
        all += blocks_bytes(blocks, i);
    const struct radices *radices = rounds_of_call(group->comm, group->size, all, find);
    *work = (struct work){.group = group};
    if (radices == NULL)
        return MPI_ERR_NO_MEM;
    work->radices = *radices;
    const int taking = radices->taking;
    work->folding = fold_onto(group->size, taking, group->me);
    work->starts = malloc(((size_t)taking + 1 + (size_t)group->size) * sizeof *work->starts);
    int *number_at = malloc((size_t)taking * sizeof *number_at);
    if (work->starts == NULL || number_at == NULL) {
        free(number_at);
        return MPI_ERR_NO_MEM;
    }
    work->at = work->starts + taking + 1;
    for (int number = 0; number < taking; number++)
        number_at[radix_place(radices, number)] = number;
    all = 0;
    for (int place = 0; place < taking; place++) {
        const int number = number_at[place];
        work->starts[place] = all;
        for (int member = member_of(work, number); member < member_of(work, number + 1); member++) {
            work->at[member] = all;
            all += blocks_bytes(blocks, member);
        }
    }
    work->starts[taking] = all;
    free(number_at);
    return MPI_SUCCESS;
}

/* The most that any member gets from others at once: the same on all. */
static int64_t most_at_once(const struct work *work)
{
    int64_t most = work->radices.taking < work->group->size ? all_of(work) : 0;
    for (int round = 0, length = work->radices.taking; round < work->radices.rounds; round++) {
        length /= work->radices.factor[round];
        for (int place = 0; place < work->radices.taking; place += length) {
            int64_t bytes = bytes_of(work, (struct span){place, place + length}) * (work->radices.factor[round] - 1);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

static int divide(const struct work *work, const struct reduction *reduction)
{
    int error = MPI_SUCCESS, me = work->folding.number;
    for (int i = 0; i < work->radices.rounds && error == MPI_SUCCESS; i++) {
        struct circle circle = circle_of(&work->radices, me, i);
        struct span own = radix_stretch(&work->radices, me, i + 1);
        struct round round = {.group = work->group};
        char *room = work->other;
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
            if (k != circle.digit) {
                error = round_receive(&round, room, bytes_of(work, own), member_of(work, circle_other(&circle, k)));
                room += bytes_of(work, own);
            }
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++) {
            int other = circle_other(&circle, k);
            struct span its = radix_stretch(&work->radices, other, i + 1);
            if (k != circle.digit)
                error = round_send(&round, work->data + work->starts[its.from], bytes_of(work, its),
                                   member_of(work, other));
        }
        error = round_finish(&round, error);
        if (error == MPI_SUCCESS)
            round_combine(&circle, work->other, work->data + work->starts[own.from], bytes_of(work, own), reduction);
    }
    return error;
}

static int multiply(const struct work *work)
{
    int error = MPI_SUCCESS, me = work->folding.number;
    for (int i = work->radices.rounds - 1; i >= 0 && error == MPI_SUCCESS; i--) {
        struct circle circle = circle_of(&work->radices, me, i);
        struct span own = radix_stretch(&work->radices, me, i + 1);
        struct round round = {.group = work->group};
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++) {
            int other = circle_other(&circle, k);
            struct span its = radix_stretch(&work->radices, other, i + 1);
            if (k != circle.digit)
                error = round_receive(&round, work->data + work->starts[its.from], bytes_of(work, its),
                                      member_of(work, other));
        }
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
            if (k != circle.digit)
                error = round_send(&round, work->data + work->starts[own.from], bytes_of(work, own),
                                   member_of(work, circle_other(&circle, k)));
        error = round_finish(&round, error);
    }
    return error;
}

static int fold_and_divide(const struct work *work, int64_t own, const struct reduction *reduction)
{
    const struct group *group = work->group;
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t all = all_of(work);
    int partner = work->folding.partner < 0 ? -1 : group_rank(group, work->folding.partner), error = MPI_SUCCESS;
    if (work->folding.number < 0) {
        error = fabric_send(fabric, work->data, all, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, work->data + work->at[group->me], own, partner, group->tag)
                                    : error;
    }
    if (partner >= 0) {
        error = fabric_receive(fabric, work->other, all, partner, group->tag);
        if (error == MPI_SUCCESS && all > 0)
            reduction->combine(reduction, work->data, work->other, work->data, all / reduction->element);
    }
    if (error == MPI_SUCCESS)
        error = divide(work, reduction);
    if (error != MPI_SUCCESS || partner < 0)
        return error;
    struct span both = radix_stretch(&work->radices, work->folding.number, work->radices.rounds);
    int64_t at = work->at[work->folding.partner];
    return fabric_send(fabric, work->data + at, work->starts[both.to] - at, partner, group->tag);
}

static int fold_and_multiply(const struct work *work, int64_t own)
{
    const struct group *group = work->group;
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t all = all_of(work);
    int partner = work->folding.partner < 0 ? -1 : group_rank(group, work->folding.partner), error = MPI_SUCCESS;
    if (work->folding.number < 0) {
        error = fabric_send(fabric, work->data + work->at[group->me], own, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, work->data, all, partner, group->tag) : error;
    }
    if (partner >= 0) {
        struct span both = radix_stretch(&work->radices, work->folding.number, work->radices.rounds);
        int64_t at = work->at[work->folding.partner];
        error = fabric_receive(fabric, work->data + at, work->starts[both.to] - at, partner, group->tag);
    }
    if (error == MPI_SUCCESS)
        error = multiply(work);
    return error == MPI_SUCCESS ? fabric_send(fabric, work->data, all, partner, group->tag) : error;
}

static int reduce_scatter(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                          const struct reduction *reduction, rounds_find *find)
{
    struct work work;
    int error = work_start(&work, group, blocks, find);
    const int64_t all = error == MPI_SUCCESS ? all_of(&work) : 0;
    const int64_t room = error == MPI_SUCCESS ? most_at_once(&work) : 0;
    if (error == MPI_SUCCESS && room > 2 * all) { /* on all members: all know all blocks */
        free(work.starts);
        return group_reduce_scatter_pairwise(group, send, receive, blocks, reduction);
    }
    if (error == MPI_SUCCESS)
        work.data = coll_scratch(group->comm, group->scratch, all + room + 1);
    if (error == MPI_SUCCESS && work.data == NULL)
        error = MPI_ERR_NO_MEM;
    for (int member = 0; member < group->size && error == MPI_SUCCESS; member++) {
        if (blocks_bytes(blocks, member) > 0)
            memcpy(work.data + work.at[member], (const char *)send + blocks_at(blocks, member),
                   (size_t)blocks_bytes(blocks, member));
    }
    int64_t own = blocks_bytes(blocks, group->me);
    if (error == MPI_SUCCESS) {
        work.other = work.data + all;
        error = fold_and_divide(&work, own, reduction);
    }
    if (error == MPI_SUCCESS && own > 0)
        memcpy(receive, work.data + work.at[group->me], (size_t)own);
    free(work.starts);
    return error;
}

static int allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                     rounds_find *find)
{
    struct work work;
    int error = work_start(&work, group, blocks, find);
    if (error == MPI_SUCCESS)
        work.data = coll_scratch(group->comm, group->scratch, all_of(&work) + 1);
    if (error == MPI_SUCCESS && work.data == NULL)
        error = MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS && blocks_bytes(blocks, group->me) > 0)
        memcpy(work.data + work.at[group->me], send, (size_t)blocks_bytes(blocks, group->me));
    if (error == MPI_SUCCESS)
        error = fold_and_multiply(&work, blocks_bytes(blocks, group->me));
    for (int member = 0; member < group->size && error == MPI_SUCCESS; member++) {
        if (blocks_bytes(blocks, member) > 0)
            memcpy((char *)receive + blocks_at(blocks, member), work.data + work.at[member],
                   (size_t)blocks_bytes(blocks, member));
    }
    free(work.starts);
    return error;
}

/* Jocksch, Ohana, Lanti, Karakasis, Villard: Optimised allgatherv, reduce_scatter and allreduce communication in message-passing
   systems (2020). */
int group_reduce_scatter_dividing(const struct group *group, const void *send, void *receive,
                                  const struct blocks *blocks, const struct reduction *reduction)
{
    return reduce_scatter(group, send, receive, blocks, reduction, rounds_folding);
}

int group_allgather_multiplying(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    return allgather(group, send, receive, blocks, rounds_folding);
}

int group_reduce_scatter_bine(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction)
{
    return reduce_scatter(group, send, receive, blocks, reduction, rounds_bine);
}

int group_allgather_bine(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    return allgather(group, send, receive, blocks, rounds_bine);
}
