/* Gathers and scatters, with blocks of one length or of several. */
#include <stdlib.h>

#include "buffers.h"

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
bool try_rooted(struct trial *trial, bool gathers)
{
    struct plain base = draw_plain(trial);
    int unit = 1 + random_below(&trial->shared, 4),
        count = draw_count(trial, base.type, unit) / (trial->ranks > 2 ? 2 : 1), error;
    int root = draw_root(trial);
    bool is_root = trial->rank == root, in_place = random_one_in(&trial->shared, 3) && is_root;
    struct layout_way whole = draw_layout(trial, base.type, unit), part = draw_layout(trial, base.type, unit);
    struct pair all = make_anywhere(trial, is_root ? span(&whole, (int64_t)count * trial->ranks) : 0);
    struct pair own = make_anywhere(trial, span(&part, count));
    struct view seen = draw_view(trial, &part, inside(&own, 0)), whole_seen = draw_view(trial, &whole, inside(&all, 0));
    void *one = in_place ? MPI_IN_PLACE : seen.data, *many = is_root ? whole_seen.data : NULL;
    int some = in_place ? 0 : count * part.factor, more = is_root ? count * whole.factor : -1;
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : seen.type, types = is_root ? whole_seen.type : MPI_DATATYPE_NULL;
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d x %d %s, root %d, here %s and %s%s", count, unit, base.name, root, whole.name, part.name,
        in_place ? ", in place" : "");
    if (gathers)
        error = TESTED(Gather, one, some, type, many, more, types, root, trial->comm);
    else
        error = TESTED(Scatter, many, more, types, one, some, type, root, trial->comm);
    end_view(&seen);
    end_view(&whole_seen);
    exchange_with_root(trial, root, gathers, in_place, inside(&all, 1), &whole, inside(&own, 1), &part, count);
    bool good = error == MPI_SUCCESS && same(&all) && same(&own);
    discard(&all);
    discard(&own);
    layouts_free(&whole);
    layouts_free(&part);
    return good;
}

/* Messages between the root and everybody, as exchange_with_root() has them. */
static void exchange_blocks(const struct trial *trial, int root, bool gathers, bool in_place, char *all,
                            const int *counts, const int *at, MPI_Datatype all_type, char *own, int some,
                            MPI_Datatype type)
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

static int call_rooted_v(struct trial *trial, bool gathers, void *one, int some, MPI_Datatype type, void *many,
                         const int *counts, const int *at, MPI_Datatype types, int root)
{
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    MPI_Aint wide_at[RANKS_MOST];
    widen(trial->ranks, counts, at, wide, wide_at);
    if (trial->large && gathers)
        return TESTED_WIDE(Gatherv, one, some, type, many, wide, wide_at, types, root, trial->comm);
    if (trial->large)
        return TESTED_WIDE(Scatterv, many, wide, wide_at, types, one, some, type, root, trial->comm);
#endif
    return gathers ? TESTED_INT(Gatherv, one, some, type, many, counts, at, types, root, trial->comm)
                   : TESTED_INT(Scatterv, many, counts, at, types, one, some, type, root, trial->comm);
}

/* gatherv and scatterv: every rank draws the length of its block by itself, and the root draws what they have drawn.
   Elsewhere than on the root, what counts there alone is nonsense. */
bool try_rooted_v(struct trial *trial, bool gathers)
{
    struct plain base = draw_plain(trial);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / 2 + 1;
    int root = draw_root(trial);
    bool is_root = trial->rank == root, in_place = random_one_in(&trial->shared, 3) && is_root;
    int *units = malloc(3 * (size_t)ranks * sizeof *units), *counts = units + ranks, *at = counts + ranks;
    for (int i = 0; i < ranks; i++)
        units[i] = random_one_in(&trial->shared, 5) ? 0 : random_below(&trial->shared, most);
    struct layout_way whole = draw_layout(trial, base.type, unit), part = draw_layout(trial, base.type, unit);
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
    exchange_blocks(trial, root, gathers, in_place, inside(&all, 1), counts, at, whole.type, inside(&own, 1), some,
                    part.type);
    bool good = error == MPI_SUCCESS && same(&all) && same(&own);
    discard(&all);
    discard(&own);
    layouts_free(&whole);
    layouts_free(&part);
    free(units);
    return good;
}
