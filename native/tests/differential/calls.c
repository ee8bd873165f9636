#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "data.h"

/* In this order Open MPI 4.1.4, which by itself sometimes hangs in MPI_Dist_graph_create_adjacent on two of three ranks, does not
 * in an ordinary run. */
const char *const call_names[NAMES] = {"neighbor_alltoallw",
                                       "neighbor_allgather",
                                       "neighbor_allgatherv",
                                       "neighbor_alltoall",
                                       "neighbor_alltoallv",
                                       "alltoallw",
                                       "allgather",
                                       "allgatherv",
                                       "allreduce",
                                       "alltoall",
                                       "alltoallv",
                                       "barrier",
                                       "bcast",
                                       "gather",
                                       "gatherv",
                                       "reduce",
                                       "reduce_scatter",
                                       "reduce_scatter_block",
                                       "scatter",
                                       "scatterv",
                                       "exscan",
                                       "scan"};

static bool try_barrier(struct trial *trial)
{
    (void)random_next(&trial->shared);
#if HAS_PERSISTENT
    if (trial->persistent)
        return later_end(trial, MPI_Barrier_init(trial->comm, MPI_INFO_NULL, &trial->request)) == MPI_SUCCESS;
#endif
    if (trial->later)
        return later_end(trial, MPI_Ibarrier(trial->comm, &trial->request)) == MPI_SUCCESS;
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
    struct plain base = draw_plain(trial);
    int unit = 1 + random_below(&trial->shared, 4), count = draw_count(trial, base.type, unit);
    int root = draw_root(trial);
    struct layout_way way = draw_layout(trial, base.type, unit);
    struct pair buffer = make_anywhere(trial, span(&way, count));
    struct view view = draw_view(trial, &way, inside(&buffer, 0));
    say(trial, "%d x %d %s, here %s, root %d", count, unit, base.name, way.name, root);
    bool good = TESTED(Bcast, view.data, count * way.factor, view.type, root, trial->comm) == MPI_SUCCESS;
    end_view(&view);
    for (int i = 0; i < trial->ranks; i++)
        if (trial->rank == root && i != root)
            PMPI_Send(inside(&buffer, 1), count * way.factor, way.type, i, 9, trial->comm);
    if (trial->rank != root)
        PMPI_Recv(inside(&buffer, 1), count * way.factor, way.type, root, 9, trial->comm, MPI_STATUS_IGNORE);
    good = good && same(&buffer);
    discard(&buffer);
    layouts_free(&way);
    return good;
}

/* allgather and alltoall. */
static bool try_blocks(struct trial *trial, bool gathers)
{
    struct plain base = draw_plain(trial);
    int unit = 1 + random_below(&trial->shared, 4),
        count = draw_count(trial, base.type, unit) / (trial->ranks > 2 ? 2 : 1), error;
    bool in_place = random_one_in(&trial->shared, 3);
    struct layout_way out = draw_layout(trial, base.type, unit), in = draw_layout(trial, base.type, unit);
    struct pair send = make_anywhere(trial, span(&out, (int64_t)count * (gathers ? 1 : trial->ranks)));
    struct pair receive = make_anywhere(trial, span(&in, (int64_t)count * trial->ranks));
    int *counts = malloc(4 * (size_t)trial->ranks * sizeof *counts), *at = counts + trial->ranks;
    int *in_counts = at + trial->ranks, *in_at = in_counts + trial->ranks;
    const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
    int some = in_place ? 0 : count * out.factor, more = count * in.factor, own = gathers ? trial->rank : 0;
    struct view seen = draw_view(trial, &out, inside(&send, 0)), to = draw_view(trial, &in, inside(&receive, 0));
    const void *sent = in_place ? MPI_IN_PLACE : seen.data;
    MPI_Datatype sends = in_place ? MPI_DATATYPE_NULL : seen.type;
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d x %d %s, here %s to %s%s", count, unit, base.name, out.name, in.name, in_place ? ", in place" : "");
    for (int i = 0; i < trial->ranks; i++) {
        in_counts[i] = more;
        in_at[i] = i * more;
        counts[i] = in_place ? more : some;
        at[i] = in_place ? (gathers ? own : i) * more : (gathers ? 0 : i) * some;
    }
    if (gathers)
        error = TESTED(Allgather, sent, some, sends, to.data, more, to.type, trial->comm);
    else
        error = TESTED(Alltoall, sent, some, sends, to.data, more, to.type, trial->comm);
    end_view(&seen);
    end_view(&to);
    if (in_place)
        exchange_in_place(trial, &receive, counts, at, in_counts, in_at, in.type);
    else
        exchange(trial, from, counts, at, out.type, inside(&receive, 1), in_counts, in_at, in.type);
    bool good = error == MPI_SUCCESS && same(&receive);
    discard(&send);
    discard(&receive);
    layouts_free(&out);
    layouts_free(&in);
    free(counts);
    return good;
}

static int gather_v(struct trial *trial, const void *from, int some, MPI_Datatype sends, void *to, const int *counts,
                    const int *at, MPI_Datatype type)
{
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    MPI_Aint wide_at[RANKS_MOST];
    widen(trial->ranks, counts, at, wide, wide_at);
    if (trial->large)
        return TESTED_WIDE(Allgatherv, from, some, sends, to, wide, wide_at, type, trial->comm);
#endif
    return TESTED_INT(Allgatherv, from, some, sends, to, counts, at, type, trial->comm);
}

static int exchange_v(struct trial *trial, const void *from, const int *some, const int *some_at, MPI_Datatype sends,
                      void *to, const int *counts, const int *at, MPI_Datatype type)
{
#if MPI_VERSION >= 4
    MPI_Count wide[2][RANKS_MOST];
    MPI_Aint wide_at[2][RANKS_MOST];
    widen(trial->ranks, some, some_at, wide[0], wide_at[0]);
    widen(trial->ranks, counts, at, wide[1], wide_at[1]);
    if (trial->large)
        return TESTED_WIDE(Alltoallv, from, wide[0], wide_at[0], sends, to, wide[1], wide_at[1], type, trial->comm);
#endif
    return TESTED_INT(Alltoallv, from, some, some_at, sends, to, counts, at, type, trial->comm);
}

static bool try_allgatherv(struct trial *trial)
{
    struct plain base = draw_plain(trial);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / 2 + 1;
    bool in_place = random_one_in(&trial->shared, 3);
    int *units = malloc(5 * (size_t)ranks * sizeof *units), *counts = units + ranks, *at = counts + ranks;
    int *sent = at + ranks, *sent_at = sent + ranks;
    for (int i = 0; i < ranks; i++)
        units[i] = random_below(&trial->shared, most);
    struct layout_way out = draw_layout(trial, base.type, unit), in = draw_layout(trial, base.type, unit);
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
    bool good = gather_v(trial, from, in_place ? 0 : some, in_place ? MPI_DATATYPE_NULL : out.type, inside(&receive, 0),
                         counts, at, in.type) == MPI_SUCCESS;
    if (in_place)
        exchange_in_place(trial, &receive, sent, sent_at, counts, at, in.type);
    else
        exchange(trial, from, sent, sent_at, out.type, inside(&receive, 1), counts, at, in.type);
    good = good && same(&receive);
    discard(&send);
    discard(&receive);
    layouts_free(&out);
    layouts_free(&in);
    free(units);
    return good;
}

static bool try_alltoallv(struct trial *trial)
{
    struct plain base = draw_plain(trial);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / 2 + 1;
    bool in_place = random_one_in(&trial->shared, 3);
    uint64_t key = random_next(&trial->shared), idle = draw_idle(trial);
    int *units = malloc(6 * (size_t)ranks * sizeof *units), *counts[2], *at[2];
    for (int k = 0; k < 2; k++)
        counts[k] = units + (2 + 2 * k) * ranks, at[k] = counts[k] + ranks;
    for (int i = 0; i < ranks; i++) {
        /* In place, what a pair exchanges is equal both ways. */
        int low = i < trial->rank ? i : trial->rank, high = i < trial->rank ? trial->rank : i;
        struct random out = random_of(key, (uint64_t)(in_place ? low : trial->rank), (uint64_t)(in_place ? high : i));
        struct random in = random_of(key, (uint64_t)(in_place ? low : i), (uint64_t)(in_place ? high : trial->rank));
        const bool nothing = is_idle(idle, trial->rank) || is_idle(idle, i);
        units[i] = nothing ? 0 : random_below(&out, most);
        units[ranks + i] = nothing ? 0 : random_below(&in, most);
    }
    /* A rank of Open MPI 4.1.4 that has nothing at all leaves MPI_Ialltoallv in place without counting it, so that its next nonblocking
     * collective does not meet those of the others; and what ours find no room for is its. */
    if (in_place && (trial->by_library || trial->later) && units[trial->rank] == 0)
        units[trial->rank] = units[ranks + trial->rank] = 1;
    struct layout_way out = draw_layout(trial, base.type, unit), in = draw_layout(trial, base.type, unit);
    int64_t sent = arrange(&trial->own, ranks, units, &out, counts[0], at[0]);
    int64_t received = arrange(&trial->own, ranks, units + ranks, &in, counts[1], at[1]);
    struct pair send = make_anywhere(trial, span(&out, sent)), receive = make_anywhere(trial, span(&in, received));
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "up to %d x %d %s, here %s to %s%s", most - 1, unit, base.name, out.name, in.name,
        in_place ? ", in place" : "");
    const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
    struct view seen = draw_view(trial, &out, inside(&send, 0)), to = draw_view(trial, &in, inside(&receive, 0));
    bool good =
        exchange_v(trial, in_place ? MPI_IN_PLACE : seen.data, in_place ? NULL : counts[0], in_place ? NULL : at[0],
                   in_place ? MPI_DATATYPE_NULL : seen.type, to.data, counts[1], at[1], to.type) == MPI_SUCCESS;
    end_view(&seen);
    end_view(&to);
    if (in_place)
        exchange_in_place(trial, &receive, counts[1], at[1], counts[1], at[1], in.type);
    else
        exchange(trial, from, counts[0], at[0], out.type, inside(&receive, 1), counts[1], at[1], in.type);
    good = good && same(&receive);
    discard(&send);
    discard(&receive);
    layouts_free(&out);
    layouts_free(&in);
    free(units);
    return good;
}

static bool run(struct trial *trial)
{
    switch (trial->which) {
    case 0: return try_neighbor_w(trial);
    case 1: return try_neighbor(trial, true, false);
    case 2: return try_neighbor(trial, true, true);
    case 3: return try_neighbor(trial, false, false);
    case 4: return try_neighbor(trial, false, true);
    case 5: return (!IS_MPICH && trial->ranks == 1) || try_alltoallw(trial);
    case 6: return try_blocks(trial, true);
    case 7: return (IS_MPICH && trial->ranks == 1) || try_allgatherv(trial);
    case 8: return try_reduction(trial, true);
    case 9: return try_blocks(trial, false);
    case 10: return try_alltoallv(trial);
    case 11: return try_barrier(trial);
    case 12: return try_bcast(trial);
    case 13: return try_rooted(trial, true);
    case 14: return try_rooted_v(trial, true);
    case 15: return try_reduction(trial, false);
    case 16: return try_scattered(trial, false);
    case 17: return try_scattered(trial, true);
    case 18: return try_rooted(trial, false);
    case 19: return try_rooted_v(trial, false);
    case 20: return try_scan(trial, true);
    default: return try_scan(trial, false);
    }
}

bool trial_run(struct trial *trial)
{
    bool good = run(trial) && !trial->is_wrong;
    trial->tally->of[DRAWN_CALLS]++;
    trial->tally->of[DRAWN_LARGE] += trial->large && MPI_VERSION >= 4;
    trial->tally->of[DRAWN_MISALIGNED] += trial->misaligned;
    return good;
}
