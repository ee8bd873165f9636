#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "data.h"

/* MPICH 4.0.2 crashes in a reduction in place of some length whose root is not 0, its reduce_scatter_block writes beyond its
 * memory where elements have gaps and the operation keeps their order, and on a single rank its allgatherv does not look at
 * displacements. Open MPI's alltoallw on a single rank takes displacements for elements. */
#ifdef MPICH
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

const char *const call_names[NAMES] = {"allgather",      "allgatherv",           "allreduce", "alltoall", "alltoallv",
                                       "barrier",        "bcast",                "gather",    "gatherv",  "reduce",
                                       "reduce_scatter", "reduce_scatter_block", "scatter",   "scatterv", "exscan",
                                       "scan",           "alltoallw"};

static bool try_barrier(struct trial *trial)
{
    (void)random_next(&trial->shared);
    return MPI_Barrier(trial->comm) == MPI_SUCCESS;
}

/* What an exchange of all with all must give, by messages: element displacements, as in MPI_Alltoallv. The collectives
 * underneath are no reference where ranks use different datatypes: Open MPI's choose their way by a type's size. */
static void exchange(const struct trial *trial, const char *from, const int *counts, const int *at, MPI_Datatype type,
                     char *to, const int *in_counts, const int *in_at, MPI_Datatype in_type)
{
    MPI_Count low, extent, in_extent;
    MPI_Request *requests = malloc(2 * (size_t)trial->ranks * sizeof *requests);
    PMPI_Type_get_extent_x(type, &low, &extent);
    PMPI_Type_get_extent_x(in_type, &low, &in_extent);
    for (int i = 0; i < trial->ranks; i++)
        PMPI_Irecv(to + in_at[i] * in_extent, in_counts[i], in_type, i, 9, trial->comm, &requests[i]);
    for (int i = 0; i < trial->ranks; i++)
        PMPI_Isend(from + at[i] * extent, counts[i], type, i, 9, trial->comm, &requests[trial->ranks + i]);
    for (int i = 0; i < 2 * trial->ranks; i++)
        PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    free(requests);
}

/* The same where what is sent is what `to` holds. */
static void exchange_in_place(const struct trial *trial, const struct pair *receive, const int *counts, const int *at,
                              const int *in_counts, const int *in_at, MPI_Datatype type)
{
    char *copy = malloc(receive->bytes);
    memcpy(copy, receive->memory[1], receive->bytes);
    exchange(trial, copy + SLACK + receive->shift, counts, at, type, inside(receive, 1), in_counts, in_at, type);
    free(copy);
}

static bool try_bcast(struct trial *trial)
{
    struct plain base = data_plain(&trial->shared);
    int unit = 1 + random_below(&trial->shared, 4), count = draw_count(trial);
    int root = random_below(&trial->shared, trial->ranks);
    struct layout_way way = data_layout(&trial->own, base.type, unit);
    struct pair buffer = make_anywhere(trial, span(&way, count));
    say(trial, "%d x %d %s, here %s, root %d", count, unit, base.name, way.name, root);
    bool good = TESTED(Bcast, inside(&buffer, 0), count * way.factor, way.type, root, trial->comm) == MPI_SUCCESS;
    for (int i = 0; i < trial->ranks; i++)
        if (trial->rank == root && i != root)
            PMPI_Send(inside(&buffer, 1), count * way.factor, way.type, i, 9, trial->comm);
    if (trial->rank != root)
        PMPI_Recv(inside(&buffer, 1), count * way.factor, way.type, root, 9, trial->comm, MPI_STATUS_IGNORE);
    good = good && same(&buffer);
    discard(&buffer);
    data_layout_free(&way);
    return good;
}

static bool try_reduction(struct trial *trial, bool to_all)
{
    struct combination what = data_combination(&trial->shared);
    int count = draw_count(trial), root = random_below(&trial->shared, trial->ranks), error[2];
    bool in_place = random_one_in(&trial->shared, 3) && (to_all || (trial->rank == root && (root == 0 || !IS_MPICH)));
    bool gets = to_all || trial->rank == root;
    size_t bytes = (size_t)count * (size_t)what.bytes;
    struct pair send = make(&trial->own, bytes), receive = make(&trial->own, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), (size_t)count);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d, %s, root %d%s", count, what.name, to_all ? -1 : root, in_place ? ", in place" : "");
    /* What the library underneath gives a function of the program is as malloc's memory is, and no better. */
    bool ours = what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], (long long)bytes, what.bytes) == 1;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
        char *to = inside(&receive, way);
        if (to_all)
            error[way] = way == 0 ? TESTED(Allreduce, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Allreduce(from, to, count, what.type, what.op, trial->comm);
        else
            error[way] = way == 0 ? TESTED(Reduce, from, to, count, what.type, what.op, root, trial->comm)
                                  : PMPI_Reduce(from, to, count, what.type, what.op, root, trial->comm);
    }
    bool good = error[0] == error[1] && data_kept_promise() && memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0;
    if (gets)
        good = good && data_same(&what, inside(&receive, 0), inside(&receive, 1), (size_t)count);
    else
        good = good && same(&receive);
    discard(&send);
    discard(&receive);
    return good;
}

/* scan and exscan. What an exscan's `receive` on rank 0 is afterwards nobody says. */
static bool try_scan(struct trial *trial, bool exclusive)
{
    struct combination what = data_combination(&trial->shared);
    int count = draw_count(trial), error[2];
    bool in_place = random_one_in(&trial->shared, 3), gets = !exclusive || trial->rank > 0;
    size_t bytes = (size_t)count * (size_t)what.bytes;
    struct pair send = make(&trial->own, bytes), receive = make(&trial->own, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), (size_t)count);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d, %s%s", count, what.name, in_place ? ", in place" : "");
    bool ours = what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], (long long)bytes, what.bytes) == 1;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
        char *to = inside(&receive, way);
        if (exclusive)
            error[way] = way == 0 ? TESTED(Exscan, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Exscan(from, to, count, what.type, what.op, trial->comm);
        else
            error[way] = way == 0 ? TESTED(Scan, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Scan(from, to, count, what.type, what.op, trial->comm);
    }
    bool good = error[0] == error[1] && data_kept_promise() && memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0;
    good = good && (!gets || data_same(&what, inside(&receive, 0), inside(&receive, 1), (size_t)count));
    discard(&send);
    discard(&receive);
    return good;
}

/* allgather and alltoall. */
static bool try_blocks(struct trial *trial, bool gathers)
{
    struct plain base = data_plain(&trial->shared);
    int unit = 1 + random_below(&trial->shared, 4), count = draw_count(trial) / (trial->ranks > 2 ? 2 : 1), error;
    bool in_place = random_one_in(&trial->shared, 3);
    struct layout_way out = data_layout(&trial->own, base.type, unit), in = data_layout(&trial->own, base.type, unit);
    struct pair send = make_anywhere(trial, span(&out, (int64_t)count * (gathers ? 1 : trial->ranks)));
    struct pair receive = make_anywhere(trial, span(&in, (int64_t)count * trial->ranks));
    int *counts = malloc(4 * (size_t)trial->ranks * sizeof *counts), *at = counts + trial->ranks;
    int *in_counts = at + trial->ranks, *in_at = in_counts + trial->ranks;
    const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
    int some = in_place ? 0 : count * out.factor, more = count * in.factor, own = gathers ? trial->rank : 0;
    MPI_Datatype sends = in_place ? MPI_DATATYPE_NULL : out.type;
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d x %d %s, here %s to %s%s", count, unit, base.name, out.name, in.name, in_place ? ", in place" : "");
    for (int i = 0; i < trial->ranks; i++) {
        in_counts[i] = more;
        in_at[i] = i * more;
        counts[i] = in_place ? more : some;
        at[i] = in_place ? (gathers ? own : i) * more : (gathers ? 0 : i) * some;
    }
    if (gathers)
        error = TESTED(Allgather, from, some, sends, inside(&receive, 0), more, in.type, trial->comm);
    else
        error = TESTED(Alltoall, from, some, sends, inside(&receive, 0), more, in.type, trial->comm);
    if (in_place)
        exchange_in_place(trial, &receive, counts, at, in_counts, in_at, in.type);
    else
        exchange(trial, from, counts, at, out.type, inside(&receive, 1), in_counts, in_at, in.type);
    bool good = error == MPI_SUCCESS && same(&receive);
    discard(&send);
    discard(&receive);
    data_layout_free(&out);
    data_layout_free(&in);
    free(counts);
    return good;
}

static int scatter_sum(const struct trial *trial, bool alike, bool tested, const void *from, void *to, const int *counts,
                       const struct combination *what)
{
    if (alike && tested)
        return TESTED(Reduce_scatter_block, from, to, counts[0], what->type, what->op, trial->comm);
    if (alike)
        return PMPI_Reduce_scatter_block(from, to, counts[0], what->type, what->op, trial->comm);
    if (!tested)
        return PMPI_Reduce_scatter(from, to, counts, what->type, what->op, trial->comm);
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    for (int i = 0; i < trial->ranks; i++)
        wide[i] = counts[i];
    if (trial->large)
        return MPI_Reduce_scatter_c(from, to, wide, what->type, what->op, trial->comm);
#endif
    return MPI_Reduce_scatter(from, to, counts, what->type, what->op, trial->comm);
}

/* reduce_scatter and, where all blocks are alike, reduce_scatter_block. In place what is behind the own block may be
   anything afterwards: the MPI libraries leave there what they like. */
static bool try_scattered(struct trial *trial, bool alike)
{
    struct combination what = data_combination(&trial->shared);
    int most = draw_count(trial) / (trial->ranks > 2 ? 2 : 1), error[2];
    bool in_place = random_one_in(&trial->shared, 3);
    if (IS_MPICH && alike && what.bytes == 24)
        return true;
    int *counts = malloc((size_t)trial->ranks * sizeof *counts);
    size_t all = 0;
    for (int i = 0; i < trial->ranks; i++) {
        counts[i] = alike ? most : random_one_in(&trial->shared, 4) ? 0 : random_below(&trial->shared, most + 1);
        all += (size_t)counts[i];
    }
    const size_t own = (size_t)counts[trial->rank], bytes = (in_place ? all : own) * (size_t)what.bytes;
    struct pair send = make(&trial->own, all * (size_t)what.bytes), receive = make(&trial->own, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), all);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    say(trial, "%zu of %zu, %s%s", own, all, what.name, in_place ? ", in place" : "");
    long long size = (long long)((alike ? own : all) * (size_t)what.bytes);
    bool ours = what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], size, what.bytes) == 1;
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        error[way] = scatter_sum(trial, alike, way == 0, in_place ? MPI_IN_PLACE : inside(&send, 0), inside(&receive, way),
                                 counts, &what);
    }
    bool good = error[0] == error[1] && data_kept_promise() && memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0 &&
                data_same(&what, inside(&receive, 0), inside(&receive, 1), own);
    discard(&send);
    discard(&receive);
    free(counts);
    return good;
}

/* Messages between the root and everybody, its own block included, which nobody sends where it is in place. */
static void exchange_with_root(const struct trial *trial, int root, bool gathers, bool in_place, char *all,
                               const struct layout_way *all_way, char *own, const struct layout_way *own_way, int count)
{
    MPI_Count low, extent;
    MPI_Request *requests = malloc(((size_t)trial->ranks + 1) * sizeof *requests), *next = requests;
    int more = count * all_way->factor, some = count * own_way->factor;
    PMPI_Type_get_extent_x(all_way->type, &low, &extent);
    for (int i = 0; i < trial->ranks && trial->rank == root; i++) {
        char *block = all + (MPI_Count)i * more * extent;
        if (i != root || !in_place)
            gathers ? PMPI_Irecv(block, more, all_way->type, i, 9, trial->comm, next++)
                    : PMPI_Isend(block, more, all_way->type, i, 9, trial->comm, next++);
    }
    if (!in_place)
        gathers ? PMPI_Isend(own, some, own_way->type, root, 9, trial->comm, next++)
                : PMPI_Irecv(own, some, own_way->type, root, 9, trial->comm, next++);
    while (next > requests)
        PMPI_Wait(--next, MPI_STATUS_IGNORE);
    free(requests);
}

/* gather and scatter. Elsewhere than on the root, what counts there alone is nonsense. */
static bool try_rooted(struct trial *trial, bool gathers)
{
    struct plain base = data_plain(&trial->shared);
    int unit = 1 + random_below(&trial->shared, 4), count = draw_count(trial) / (trial->ranks > 2 ? 2 : 1), error;
    int root = random_below(&trial->shared, trial->ranks);
    bool is_root = trial->rank == root, in_place = random_one_in(&trial->shared, 3) && is_root;
    struct layout_way whole = data_layout(&trial->own, base.type, unit), part = data_layout(&trial->own, base.type, unit);
    struct pair all = make_anywhere(trial, is_root ? span(&whole, (int64_t)count * trial->ranks) : 0);
    struct pair own = make_anywhere(trial, span(&part, count));
    void *one = in_place ? MPI_IN_PLACE : inside(&own, 0), *many = is_root ? inside(&all, 0) : NULL;
    int some = in_place ? 0 : count * part.factor, more = is_root ? count * whole.factor : -1;
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : part.type, types = is_root ? whole.type : MPI_DATATYPE_NULL;
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d x %d %s, root %d, here %s and %s%s", count, unit, base.name, root, whole.name, part.name,
        in_place ? ", in place" : "");
    if (gathers)
        error = TESTED(Gather, one, some, type, many, more, types, root, trial->comm);
    else
        error = TESTED(Scatter, many, more, types, one, some, type, root, trial->comm);
    exchange_with_root(trial, root, gathers, in_place, inside(&all, 1), &whole, inside(&own, 1), &part, count);
    bool good = error == MPI_SUCCESS && same(&all) && same(&own);
    discard(&all);
    discard(&own);
    data_layout_free(&whole);
    data_layout_free(&part);
    return good;
}

/* The blocks of a v call: elements and where they are, with gaps, in any order. The room they need, in units. */
static int64_t arrange(struct random *random, int ranks, const int *units, const struct layout_way *way, int *counts,
                       int *at)
{
    int64_t next = 0;
    bool tight = random_one_in(random, 2);
    int first = tight ? 0 : random_below(random, ranks);
    for (int i = 0; i < ranks; i++) {
        int rank = (first + i) % ranks;
        next += tight ? 0 : random_below(random, 4);
        counts[rank] = units[rank] * way->factor;
        at[rank] = (int)next * way->factor;
        next += units[rank];
    }
    return next;
}

#if MPI_VERSION >= 4
static void widen(int ranks, const int *counts, const int *at, MPI_Count *wide, MPI_Aint *wide_at)
{
    for (int i = 0; counts != NULL && i < ranks; i++)
        wide[i] = counts[i], wide_at[i] = at[i];
}
#endif

static int gather_v(const struct trial *trial, const void *from, int some, MPI_Datatype sends, void *to,
                    const int *counts, const int *at, MPI_Datatype type)
{
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    MPI_Aint wide_at[RANKS_MOST];
    widen(trial->ranks, counts, at, wide, wide_at);
    if (trial->large)
        return MPI_Allgatherv_c(from, some, sends, to, wide, wide_at, type, trial->comm);
#endif
    return MPI_Allgatherv(from, some, sends, to, counts, at, type, trial->comm);
}

static int exchange_v(const struct trial *trial, const void *from, const int *some, const int *some_at,
                      MPI_Datatype sends, void *to, const int *counts, const int *at, MPI_Datatype type)
{
#if MPI_VERSION >= 4
    MPI_Count wide[2][RANKS_MOST];
    MPI_Aint wide_at[2][RANKS_MOST];
    widen(trial->ranks, some, some_at, wide[0], wide_at[0]);
    widen(trial->ranks, counts, at, wide[1], wide_at[1]);
    if (trial->large)
        return MPI_Alltoallv_c(from, wide[0], wide_at[0], sends, to, wide[1], wide_at[1], type, trial->comm);
#endif
    return MPI_Alltoallv(from, some, some_at, sends, to, counts, at, type, trial->comm);
}

static bool try_allgatherv(struct trial *trial)
{
    struct plain base = data_plain(&trial->shared);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4), most = draw_count(trial) / 2 + 1;
    bool in_place = random_one_in(&trial->shared, 3);
    int *units = malloc(5 * (size_t)ranks * sizeof *units), *counts = units + ranks, *at = counts + ranks;
    int *sent = at + ranks, *sent_at = sent + ranks;
    for (int i = 0; i < ranks; i++)
        units[i] = random_below(&trial->shared, most);
    struct layout_way out = data_layout(&trial->own, base.type, unit), in = data_layout(&trial->own, base.type, unit);
    int64_t room = arrange(&trial->own, ranks, units, &in, counts, at);
    struct pair send = make_anywhere(trial, span(&out, units[trial->rank]));
    struct pair receive = make_anywhere(trial, span(&in, room));
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "up to %d x %d %s, here %s to %s%s", most - 1, unit, base.name, out.name, in.name,
        in_place ? ", in place" : "");
    const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
    int some = in_place ? counts[trial->rank] : units[trial->rank] * out.factor;
    for (int i = 0; i < ranks; i++) {
        sent[i] = some;
        sent_at[i] = in_place ? at[trial->rank] : 0;
    }
    bool good = gather_v(trial, from, in_place ? 0 : some, in_place ? MPI_DATATYPE_NULL : out.type,
                         inside(&receive, 0), counts, at, in.type) == MPI_SUCCESS;
    if (in_place)
        exchange_in_place(trial, &receive, sent, sent_at, counts, at, in.type);
    else
        exchange(trial, from, sent, sent_at, out.type, inside(&receive, 1), counts, at, in.type);
    good = good && same(&receive);
    discard(&send);
    discard(&receive);
    data_layout_free(&out);
    data_layout_free(&in);
    free(units);
    return good;
}

static bool try_alltoallv(struct trial *trial)
{
    struct plain base = data_plain(&trial->shared);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4), most = draw_count(trial) / 2 + 1;
    bool in_place = random_one_in(&trial->shared, 3);
    uint64_t key = random_next(&trial->shared);
    int *units = malloc(6 * (size_t)ranks * sizeof *units), *counts[2], *at[2];
    for (int k = 0; k < 2; k++)
        counts[k] = units + (2 + 2 * k) * ranks, at[k] = counts[k] + ranks;
    for (int i = 0; i < ranks; i++) {
        /* In place, what a pair exchanges is equal both ways. */
        int low = i < trial->rank ? i : trial->rank, high = i < trial->rank ? trial->rank : i;
        struct random out = random_of(key, (uint64_t)(in_place ? low : trial->rank), (uint64_t)(in_place ? high : i));
        struct random in = random_of(key, (uint64_t)(in_place ? low : i), (uint64_t)(in_place ? high : trial->rank));
        units[i] = random_below(&out, most);
        units[ranks + i] = random_below(&in, most);
    }
    struct layout_way out = data_layout(&trial->own, base.type, unit), in = data_layout(&trial->own, base.type, unit);
    int64_t sent = arrange(&trial->own, ranks, units, &out, counts[0], at[0]);
    int64_t received = arrange(&trial->own, ranks, units + ranks, &in, counts[1], at[1]);
    struct pair send = make_anywhere(trial, span(&out, sent)), receive = make_anywhere(trial, span(&in, received));
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "up to %d x %d %s, here %s to %s%s", most - 1, unit, base.name, out.name, in.name,
        in_place ? ", in place" : "");
    const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
    bool good = exchange_v(trial, from, in_place ? NULL : counts[0], in_place ? NULL : at[0],
                           in_place ? MPI_DATATYPE_NULL : out.type, inside(&receive, 0), counts[1], at[1],
                           in.type) == MPI_SUCCESS;
    if (in_place)
        exchange_in_place(trial, &receive, counts[1], at[1], counts[1], at[1], in.type);
    else
        exchange(trial, from, counts[0], at[0], out.type, inside(&receive, 1), counts[1], at[1], in.type);
    good = good && same(&receive);
    discard(&send);
    discard(&receive);
    data_layout_free(&out);
    data_layout_free(&in);
    free(units);
    return good;
}

/* Messages between the root and everybody, as exchange_with_root() has them. */
static void exchange_blocks(const struct trial *trial, int root, bool gathers, bool in_place, char *all, const int *counts,
                            const int *at, MPI_Datatype all_type, char *own, int some, MPI_Datatype type)
{
    MPI_Count low, extent = 0;
    MPI_Request *requests = malloc(((size_t)trial->ranks + 1) * sizeof *requests), *next = requests;
    if (trial->rank == root)
        PMPI_Type_get_extent_x(all_type, &low, &extent);
    for (int i = 0; i < trial->ranks && trial->rank == root; i++) {
        char *block = all + at[i] * extent;
        if (i != root || !in_place)
            gathers ? PMPI_Irecv(block, counts[i], all_type, i, 9, trial->comm, next++)
                    : PMPI_Isend(block, counts[i], all_type, i, 9, trial->comm, next++);
    }
    if (!in_place)
        gathers ? PMPI_Isend(own, some, type, root, 9, trial->comm, next++)
                : PMPI_Irecv(own, some, type, root, 9, trial->comm, next++);
    while (next > requests)
        PMPI_Wait(--next, MPI_STATUS_IGNORE);
    free(requests);
}

static int call_rooted_v(const struct trial *trial, bool gathers, void *one, int some, MPI_Datatype type, void *many,
                         const int *counts, const int *at, MPI_Datatype types, int root)
{
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    MPI_Aint wide_at[RANKS_MOST];
    widen(trial->ranks, counts, at, wide, wide_at);
    if (trial->large && gathers)
        return MPI_Gatherv_c(one, some, type, many, wide, wide_at, types, root, trial->comm);
    if (trial->large)
        return MPI_Scatterv_c(many, wide, wide_at, types, one, some, type, root, trial->comm);
#endif
    return gathers ? MPI_Gatherv(one, some, type, many, counts, at, types, root, trial->comm)
                   : MPI_Scatterv(many, counts, at, types, one, some, type, root, trial->comm);
}

/* gatherv and scatterv: every rank draws the length of its block by itself, and the root draws what they have drawn.
   Elsewhere than on the root, what counts there alone is nonsense. */
static bool try_rooted_v(struct trial *trial, bool gathers)
{
    struct plain base = data_plain(&trial->shared);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4), most = draw_count(trial) / 2 + 1;
    int root = random_below(&trial->shared, ranks);
    bool is_root = trial->rank == root, in_place = random_one_in(&trial->shared, 3) && is_root;
    int *units = malloc(3 * (size_t)ranks * sizeof *units), *counts = units + ranks, *at = counts + ranks;
    for (int i = 0; i < ranks; i++)
        units[i] = random_one_in(&trial->shared, 5) ? 0 : random_below(&trial->shared, most);
    struct layout_way whole = data_layout(&trial->own, base.type, unit), part = data_layout(&trial->own, base.type, unit);
    int64_t room = arrange(&trial->own, ranks, units, &whole, counts, at);
    struct pair all = make_anywhere(trial, is_root ? span(&whole, room) : 0);
    struct pair own = make_anywhere(trial, span(&part, units[trial->rank]));
    void *one = in_place ? MPI_IN_PLACE : inside(&own, 0), *many = is_root ? inside(&all, 0) : NULL;
    int some = units[trial->rank] * part.factor;
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : part.type, types = is_root ? whole.type : MPI_DATATYPE_NULL;
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "up to %d x %d %s, root %d, here %s and %s%s", most - 1, unit, base.name, root, whole.name, part.name,
        in_place ? ", in place" : "");
    int error = call_rooted_v(trial, gathers, one, in_place ? 0 : some, type, many, is_root ? counts : NULL,
                              is_root ? at : NULL, types, root);
    exchange_blocks(trial, root, gathers, in_place, inside(&all, 1), counts, at, whole.type, inside(&own, 1), some, part.type);
    bool good = error == MPI_SUCCESS && same(&all) && same(&own);
    discard(&all);
    discard(&own);
    data_layout_free(&whole);
    data_layout_free(&part);
    free(units);
    return good;
}

static bool run(struct trial *trial)
{
    switch (trial->which) {
    case 0: return try_blocks(trial, true);
    case 1: return (IS_MPICH && trial->ranks == 1) || try_allgatherv(trial);
    case 2: return try_reduction(trial, true);
    case 3: return try_blocks(trial, false);
    case 4: return try_alltoallv(trial);
    case 5: return try_barrier(trial);
    case 6: return try_bcast(trial);
    case 7: return try_rooted(trial, true);
    case 8: return try_rooted_v(trial, true);
    case 9: return try_reduction(trial, false);
    case 10: return try_scattered(trial, false);
    case 11: return try_scattered(trial, true);
    case 12: return try_rooted(trial, false);
    case 13: return try_rooted_v(trial, false);
    case 14: return try_scan(trial, true);
    case 15: return try_scan(trial, false);
    default: return (!IS_MPICH && trial->ranks == 1) || try_alltoallw(trial);
    }
}

bool trial_run(struct trial *trial)
{
    bool good = run(trial);
    trial->tally->of[DRAWN_CALLS]++;
    trial->tally->of[DRAWN_LARGE] += trial->large && MPI_VERSION >= 4;
    trial->tally->of[DRAWN_MISALIGNED] += trial->misaligned;
    return good;
}
