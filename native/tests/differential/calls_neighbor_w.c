#include <stdint.h>
#include <stdlib.h>

#include "buffers.h"
#include "neighbors.h"

/* One side of a neighbor_alltoallw: the blocks of every neighbour, each laid out in its own way, at any byte. */
struct side {
    struct partners with;
    int counts[EDGES_MOST];
    MPI_Aint at[EDGES_MOST];
    MPI_Datatype types[EDGES_MOST];
    struct layout_way ways[EDGES_MOST];
    size_t bytes;
};

/* Where nobody is there, there is room, too. */
static void arrange_side(struct trial *trial, struct side *side, MPI_Datatype base, int unit, const int *units)
{
    bool alike = trial->layouts != LAYOUTS_OF_UNITS && random_one_in(&trial->own, 3); /* often, as nobody packs then */
    for (int i = 0; i < side->with.count; i++) {
        struct layout_way *way = &side->ways[i];
        *way = alike ? layouts_contiguous(base, unit) : draw_layout(trial, base, unit);
        side->types[i] = way->type;
        side->counts[i] = units[i] * way->factor;
        side->at[i] = (MPI_Aint)side->bytes + random_below(&trial->own, 8);
        side->bytes += span(way, units[i]) + 8;
    }
}

static void free_ways(struct side *side)
{
    for (int i = 0; i < side->with.count; i++)
        if (side->ways[i].is_made)
            layouts_free(&side->ways[i]);
}

/* The same memory seen from somewhere else: displacements may be negative, and they may be addresses. */
static void *seen_from(struct random *random, char *memory, const struct side *side, MPI_Aint *at)
{
    const bool bottom = random_one_in(random, 4);
    const MPI_Aint ahead = random_one_in(random, 3) ? (MPI_Aint)side->bytes : 0;
    MPI_Aint address;
    PMPI_Get_address(memory, &address);
    for (int i = 0; i < side->with.count; i++)
        at[i] = bottom ? address + side->at[i] : side->at[i] - ahead;
    return bottom ? MPI_BOTTOM : memory + ahead;
}

/* What it must give, by messages; where ranks have one another twice, by the MPI library, whose that is. */
static void by_messages(const struct trial *trial, const char *from, const struct side *out, char *to,
                        const struct side *in)
{
    MPI_Request requests[2 * EDGES_MOST];
    const int gets = in->with.count, sends = out->with.count;
    for (int i = 0; i < gets; i++)
        PMPI_Irecv(to + in->at[i], in->counts[i], in->types[i], in->with.rank[i], 9, trial->comm, &requests[i]);
    for (int i = 0; i < sends; i++)
        PMPI_Isend(from + out->at[i], out->counts[i], out->types[i], out->with.rank[i], 9, trial->comm,
                   &requests[gets + i]);
    for (int i = 0; i < gets + sends; i++)
        PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static int call(struct trial *trial, char *from, const struct side *out, char *to, const struct side *in)
{
    MPI_Aint at[2][EDGES_MOST];
    const void *sends = seen_from(&trial->own, from, out, at[0]);
    void *gets = seen_from(&trial->own, to, in, at[1]);
#if MPI_VERSION >= 4
    MPI_Count counts[2][EDGES_MOST];
    for (int i = 0; i < EDGES_MOST; i++) {
        counts[0][i] = i < out->with.count ? out->counts[i] : -7;
        counts[1][i] = i < in->with.count ? in->counts[i] : -7;
    }
    if (trial->large)
        return TESTED_WIDE(Neighbor_alltoallw, sends, counts[0], at[0], out->types, gets, counts[1], at[1], in->types,
                           trial->comm);
#endif
    return TESTED_INT(Neighbor_alltoallw, sends, out->counts, at[0], out->types, gets, in->counts, at[1], in->types,
                      trial->comm);
}

/* MPICH before 4.1 takes the number of sources for that of targets (its issue 6233). */
static bool library_is_wrong(const struct trial *trial, const struct partners *out, const struct partners *in)
{
    int any = 0;
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
    int differs = out->count != in->count;
    PMPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, trial->comm);
#else
    (void)trial, (void)out, (void)in;
#endif
    return any;
}

static void draw_units(uint64_t key, int most, int from, int to, int *units)
{
    struct random length = random_of(key, (uint64_t)from, (uint64_t)to + 8);
    *units = random_below(&length, most);
}

bool try_neighbor_w(struct trial *trial)
{
    struct plain base = draw_plain(trial);
    int unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / (trial->ranks > 2 ? 2 : 1) + 1;
    uint64_t key = random_next(&trial->shared);
    struct side *out = calloc(1, sizeof *out), *in = calloc(1, sizeof *in);
    int units[2][EDGES_MOST];
    partners_find(trial, &out->with, &in->with);
    const bool twice = partners_twice(trial, &out->with, &in->with);
    if ((twice || trial->by_library) && library_is_wrong(trial, &out->with, &in->with)) {
        free(out);
        free(in);
        return true;
    }
    if (twice)
        trial->later = trial->persistent = false;
    for (int i = 0; i < out->with.count; i++)
        draw_units(key, most, trial->rank, out->with.rank[i], &units[0][i]);
    for (int i = 0; i < in->with.count; i++)
        draw_units(key, most, in->with.rank[i], trial->rank, &units[1][i]);
    arrange_side(trial, out, base.type, unit, units[0]);
    arrange_side(trial, in, base.type, unit, units[1]);
    struct pair send = make_anywhere(trial, out->bytes), receive = make_anywhere(trial, in->bytes);
    say(trial, "%d to %d, up to %d x %d %s", in->with.count, out->with.count, most - 1, unit, base.name);
    bool good = call(trial, inside(&send, 0), out, inside(&receive, 0), in) == MPI_SUCCESS;
    if (twice)
        good = PMPI_Neighbor_alltoallw(inside(&send, 1), out->counts, out->at, out->types, inside(&receive, 1),
                                       in->counts, in->at, in->types, trial->comm) == MPI_SUCCESS &&
               good;
    else
        by_messages(trial, inside(&send, 1), out, inside(&receive, 1), in);
    good = good && same(&receive) && same(&send);
    discard(&send);
    discard(&receive);
    free_ways(out);
    free_ways(in);
    free(out);
    free(in);
    return good;
}
