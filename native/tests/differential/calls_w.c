#include <stdlib.h>
#include <string.h>

#include "buffers.h"

/* One side of an alltoallw: the blocks of every rank, each laid out in its own way, at any byte. */
struct side {
    int counts[RANKS_MOST], at[RANKS_MOST];
    MPI_Datatype types[RANKS_MOST];
    struct layout_way ways[RANKS_MOST];
    size_t bytes;
};

static struct side *draw_side(struct trial *trial, MPI_Datatype base, int unit, const int *units)
{
    struct side *side = calloc(1, sizeof *side);
    bool alike = trial->layouts != LAYOUTS_OF_UNITS && random_one_in(&trial->own, 3); /* often, as nobody packs then */
    for (int rank = 0; rank < trial->ranks; rank++) {
        struct layout_way *way = &side->ways[rank];
        *way = alike ? layouts_contiguous(base, unit) : draw_layout(trial, base, unit);
        side->types[rank] = way->type;
        side->counts[rank] = units[rank] * way->factor;
        side->at[rank] = (int)side->bytes + random_below(&trial->own, 8);
        side->bytes += span(way, units[rank]) + 8;
    }
    return side;
}

static void free_side(struct trial *trial, struct side *side)
{
    for (int rank = 0; rank < trial->ranks; rank++)
        if (side->ways[rank].is_made)
            layouts_free(&side->ways[rank]);
    free(side);
}

/* What it must give, by messages. */
static void by_messages(const struct trial *trial, const char *from, const struct side *out, char *to,
                        const struct side *in)
{
    MPI_Request *requests = malloc(2 * (size_t)trial->ranks * sizeof *requests);
    for (int i = 0; i < trial->ranks; i++)
        PMPI_Irecv(to + in->at[i], in->counts[i], in->types[i], i, 9, trial->comm, &requests[i]);
    for (int i = 0; i < trial->ranks; i++)
        PMPI_Isend(from + out->at[i], out->counts[i], out->types[i], i, 9, trial->comm, &requests[trial->ranks + i]);
    for (int i = 0; i < 2 * trial->ranks; i++)
        PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    free(requests);
}

static int call(struct trial *trial, const void *from, const struct side *out, void *to, const struct side *in)
{
#if MPI_VERSION >= 4
    MPI_Count counts[2][RANKS_MOST];
    MPI_Aint at[2][RANKS_MOST];
    for (int i = 0; i < trial->ranks; i++) {
        counts[0][i] = out != NULL ? out->counts[i] : 0, at[0][i] = out != NULL ? out->at[i] : 0;
        counts[1][i] = in->counts[i], at[1][i] = in->at[i];
    }
    if (trial->large && out != NULL)
        return TESTED_WIDE(Alltoallw, from, counts[0], at[0], out->types, to, counts[1], at[1], in->types, trial->comm);
    if (trial->large)
        return TESTED_WIDE(Alltoallw, from, NULL, NULL, NULL, to, counts[1], at[1], in->types, trial->comm);
#endif
    if (out == NULL)
        return TESTED_INT(Alltoallw, from, NULL, NULL, NULL, to, in->counts, in->at, in->types, trial->comm);
    return TESTED_INT(Alltoallw, from, out->counts, out->at, out->types, to, in->counts, in->at, in->types,
                      trial->comm);
}

bool try_alltoallw(struct trial *trial)
{
    struct plain base = draw_plain(trial);
    int ranks = trial->ranks, unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / 2 + 1;
    bool in_place = random_one_in(&trial->shared, 3);
    if (in_place) /* Open MPI 5.0.11's own does not always return */
        trial->later = trial->persistent = false;
    uint64_t key = random_next(&trial->shared), idle = draw_idle(trial);
    int out_units[RANKS_MOST], in_units[RANKS_MOST];
    for (int i = 0; i < ranks; i++) {
        /* In place, what a pair exchanges is equal both ways. */
        int low = i < trial->rank ? i : trial->rank, high = i < trial->rank ? trial->rank : i;
        struct random out = random_of(key, (uint64_t)(in_place ? low : trial->rank), (uint64_t)(in_place ? high : i));
        struct random in = random_of(key, (uint64_t)(in_place ? low : i), (uint64_t)(in_place ? high : trial->rank));
        const bool nothing = is_idle(idle, trial->rank) || is_idle(idle, i);
        out_units[i] = nothing ? 0 : random_below(&out, most);
        in_units[i] = nothing ? 0 : random_below(&in, most);
    }
    struct side *in = draw_side(trial, base.type, unit, in_units);
    struct side *out = in_place ? NULL : draw_side(trial, base.type, unit, out_units);
    struct pair receive = make_anywhere(trial, in->bytes), send = make_anywhere(trial, in_place ? 0 : out->bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "up to %d x %d %s, here %s first%s", most - 1, unit, base.name, in->ways[0].name,
        in_place ? ", in place" : "");
    bool good = call(trial, in_place ? MPI_IN_PLACE : inside(&send, 0), out, inside(&receive, 0), in) == MPI_SUCCESS;
    if (in_place) {
        char *copy = malloc(receive.bytes);
        memcpy(copy, receive.memory[1], receive.bytes);
        by_messages(trial, copy + (inside(&receive, 1) - receive.memory[1]), in, inside(&receive, 1), in);
        free(copy);
    } else
        by_messages(trial, inside(&send, 1), out, inside(&receive, 1), in);
    good = good && same(&receive) && same(&send);
    discard(&send);
    discard(&receive);
    free_side(trial, in);
    if (out != NULL)
        free_side(trial, out);
    return good;
}
