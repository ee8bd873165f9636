#include <string.h>

#include "rounds.h"

/* One member's part in it. */
struct work {
    const struct group *group;
    const struct reduction *reduction;
    const struct radices *radices;
    int number;
    char *data, *other;
    int64_t count;
};

static int member_of(const struct work *work, int number)
{
    return unfold_from(work->group->size, work->radices->taking, number);
}

/* Whole vectors among all of a circle, neighbours first, so that whoever combines has a stretch of them, in order. Ruefenacht, Bull,
   Booth: Generalisation of recursive doubling for AllReduce (2017). */
static int multiply(const struct work *work)
{
    const int64_t bytes = work->count * work->reduction->element;
    int error = MPI_SUCCESS;
    for (int i = 0; i < work->radices->rounds && error == MPI_SUCCESS; i++) {
        struct circle circle = circle_of(work->radices, work->number, i);
        struct round round = {.group = work->group};
        char *room = work->other;
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
            if (k != circle.digit) {
                error = round_receive(&round, room, bytes, member_of(work, circle_other(&circle, k)));
                room += bytes;
            }
        for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
            if (k != circle.digit)
                error = round_send(&round, work->data, bytes, member_of(work, circle_other(&circle, k)));
        error = round_finish(&round, error);
        if (error == MPI_SUCCESS)
            round_combine(&circle, work->other, work->data, bytes, work->reduction);
    }
    return error;
}

static struct span part(struct span of, int i, int parts)
{
    struct span span = part_of(of.to - of.from, i, parts);
    return (struct span){of.from + span.from, of.from + span.to};
}

/* Each of a circle combines one of as many parts of what they all have. */
static int divide_once(const struct work *work, struct circle circle, struct span all)
{
    const int64_t element = work->reduction->element;
    struct span own = part(all, circle.digit, circle.factor);
    struct round round = {.group = work->group};
    char *room = work->other;
    int error = MPI_SUCCESS;
    for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
        if (k != circle.digit) {
            error =
                round_receive(&round, room, (own.to - own.from) * element, member_of(work, circle_other(&circle, k)));
            room += (own.to - own.from) * element;
        }
    for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++) {
        struct span its = part(all, k, circle.factor);
        if (k != circle.digit)
            error = round_send(&round, work->data + its.from * element, (its.to - its.from) * element,
                               member_of(work, circle_other(&circle, k)));
    }
    error = round_finish(&round, error);
    if (error == MPI_SUCCESS)
        round_combine(&circle, work->other, work->data + own.from * element, (own.to - own.from) * element,
                      work->reduction);
    return error;
}

static int hand_out_once(const struct work *work, struct circle circle, struct span all)
{
    const int64_t element = work->reduction->element;
    struct span own = part(all, circle.digit, circle.factor);
    struct round round = {.group = work->group};
    int error = MPI_SUCCESS;
    for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++) {
        struct span its = part(all, k, circle.factor);
        if (k != circle.digit)
            error = round_receive(&round, work->data + its.from * element, (its.to - its.from) * element,
                                  member_of(work, circle_other(&circle, k)));
    }
    for (int k = 0; k < circle.factor && error == MPI_SUCCESS; k++)
        if (k != circle.digit)
            error = round_send(&round, work->data + own.from * element, (own.to - own.from) * element,
                               member_of(work, circle_other(&circle, k)));
    return round_finish(&round, error);
}

/* Parts of parts, neighbours first, which have most to exchange, and the same way back. Jocksch, Ohana, Lanti, Karakasis, Villard:
   Optimised allgatherv, reduce_scatter and allreduce communication in message-passing systems (2020). */
static int divide(const struct work *work)
{
    struct span all[RADIX_ROUNDS + 1] = {{0, work->count}};
    int error = MPI_SUCCESS, rounds = work->radices->rounds;
    for (int i = 0; i < rounds && error == MPI_SUCCESS; i++) {
        struct circle circle = circle_of(work->radices, work->number, i);
        all[i + 1] = part(all[i], circle.digit, circle.factor);
        error = divide_once(work, circle, all[i]);
    }
    for (int i = rounds - 1; i >= 0 && error == MPI_SUCCESS; i--)
        error = hand_out_once(work, circle_of(work->radices, work->number, i), all[i]);
    return error;
}

/* Members beyond those that take part are taken in by a neighbour first and get the result last. */
static int fold_around(struct work *work, int (*between)(const struct work *work), int64_t room)
{
    const struct group *group = work->group;
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t bytes = work->count * work->reduction->element;
    struct folding folding = fold_onto(group->size, work->radices->taking, group->me);
    int partner = folding.partner < 0 ? -1 : group_rank(group, folding.partner), error = MPI_SUCCESS;
    if (folding.number < 0) {
        error = fabric_send(fabric, work->data, bytes, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, work->data, bytes, partner, group->tag) : error;
    }
    work->number = folding.number;
    work->other = coll_scratch(group->comm, group->scratch, (room > bytes ? room : bytes) + 1);
    if (work->other == NULL)
        return MPI_ERR_NO_MEM;
    if (partner >= 0) {
        error = fabric_receive(fabric, work->other, bytes, partner, group->tag);
        if (error == MPI_SUCCESS && bytes > 0)
            work->reduction->combine(work->reduction, work->data, work->other, work->data, work->count);
    }
    if (error == MPI_SUCCESS)
        error = between(work);
    return error == MPI_SUCCESS ? fabric_send(fabric, work->data, bytes, partner, group->tag) : error;
}

int group_allreduce_multiplying(const struct group *group, const void *send, void *receive, int64_t count,
                                const struct reduction *reduction)
{
    const int64_t bytes = count * reduction->element;
    const struct radices *radices = rounds_of_call(group->comm, group->size, bytes, rounds_multiplying);
    struct work work = {.group = group, .reduction = reduction, .radices = radices, .data = receive, .count = count};
    if (radices == NULL)
        return MPI_ERR_NO_MEM;
    if (receive != send && bytes > 0)
        memcpy(receive, send, (size_t)bytes);
    return fold_around(&work, multiply, (rounds_widest(radices) - 1) * bytes);
}

static int by_parts(const struct group *group, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction, rounds_find *find)
{
    const int64_t bytes = count * reduction->element;
    const struct radices *radices = rounds_of_call(group->comm, group->size, bytes, find);
    struct work work = {.group = group, .reduction = reduction, .radices = radices, .data = receive, .count = count};
    if (radices == NULL)
        return MPI_ERR_NO_MEM;
    if (receive != send && bytes > 0)
        memcpy(receive, send, (size_t)bytes);
    /* Of the first round: all but the own of nearly equal parts. */
    return fold_around(&work, divide, bytes + RADIX_MOST * reduction->element);
}

int group_allreduce_dividing(const struct group *group, const void *send, void *receive, int64_t count,
                             const struct reduction *reduction)
{
    return by_parts(group, send, receive, count, reduction, rounds_dividing);
}

int group_allreduce_bine(const struct group *group, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    return by_parts(group, send, receive, count, reduction, rounds_bine);
}
