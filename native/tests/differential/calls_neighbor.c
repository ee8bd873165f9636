#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "neighbors.h"

enum { DIMENSIONS_MOST = 3 };

static MPI_Comm draw_grid(struct trial *trial)
{
    int dimensions = 1 + random_below(&trial->shared, DIMENSIONS_MOST), parts[DIMENSIONS_MOST] = {0},
        periods[DIMENSIONS_MOST];
    MPI_Comm made;
    for (int i = 0; i < DIMENSIONS_MOST; i++)
        periods[i] = random_one_in(&trial->shared, 3);
    PMPI_Dims_create(trial->ranks, dimensions, parts);
    PMPI_Cart_create(trial->comm, dimensions, parts, periods, 0, &made);
    return made;
}

/* Everybody and those above and below, or everybody else. */
static MPI_Comm draw_graph(struct trial *trial)
{
    int *ends = malloc((size_t)trial->ranks * sizeof *ends),
        *edges = malloc((size_t)trial->ranks * (size_t)trial->ranks * sizeof *edges);
    bool line = random_one_in(&trial->shared, 2);
    int count = 0;
    MPI_Comm made;
    for (int rank = 0; rank < trial->ranks; rank++) {
        for (int other = trial->ranks - 1; other >= 0; other--)
            if (line ? abs(other - rank) == 1 : other != rank)
                edges[count++] = other;
        ends[rank] = count;
    }
    PMPI_Graph_create(trial->comm, trial->ranks, ends, edges, 0, &made);
    free(ends);
    free(edges);
    return made;
}

static void shuffle(struct random *random, int *list, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int other = random_below(random, i + 1), kept = list[i];
        list[i] = list[other], list[other] = kept;
    }
}

/* Whether two ranks may be neighbours: of many ranks only those whose numbers are near each other, so that all of a rank's fit. */
static bool are_near(const struct trial *trial, int other)
{
    int apart = (other - trial->rank + trial->ranks) % trial->ranks;
    return apart < EDGES_MOST / 4 || trial->ranks - apart < EDGES_MOST / 4;
}

/* Any messages, sometimes to itself; sometimes two between the same ranks. */
static MPI_Comm draw_messages(struct trial *trial)
{
    uint64_t key = random_next(&trial->shared);
    int likely = 1 + random_below(&trial->shared, 3), twice = random_one_in(&trial->shared, 4);
    static const int weights[EDGES_MOST]; /* gcc warns of MPI_UNWEIGHTED */
    int sources[EDGES_MOST], targets[EDGES_MOST], in = 0, out = 0;
    MPI_Comm made;
    for (int other = 0; other < trial->ranks; other++)
        for (int again = 0; again <= twice && are_near(trial, other); again++) {
            struct random leaves = random_of(key + (uint64_t)again, (uint64_t)trial->rank, (uint64_t)other);
            struct random comes = random_of(key + (uint64_t)again, (uint64_t)other, (uint64_t)trial->rank);
            if (random_one_in(&leaves, likely))
                targets[out++] = other;
            if (random_one_in(&comes, likely))
                sources[in++] = other;
        }
    if (!twice) {
        shuffle(&trial->own, sources, in);
        shuffle(&trial->own, targets, out);
    }
    PMPI_Dist_graph_create_adjacent(trial->comm, in, sources, weights, out, targets, weights, MPI_INFO_NULL, 0, &made);
    return made;
}

MPI_Comm trial_topology(struct trial *trial)
{
    if (strncmp(call_names[trial->which], "neighbor_", strlen("neighbor_")) != 0)
        return MPI_COMM_NULL;
    switch (random_below(&trial->shared, 3)) {
    case 0: return draw_grid(trial);
    case 1: return draw_graph(trial);
    default: return draw_messages(trial);
    }
}

void partners_find(const struct trial *trial, struct partners *out, struct partners *in)
{
    int kind, weights[EDGES_MOST], weighted;
    PMPI_Topo_test(trial->comm, &kind);
    if (kind == MPI_CART) {
        int dimensions;
        PMPI_Cartdim_get(trial->comm, &dimensions);
        for (int i = 0; i < dimensions; i++)
            PMPI_Cart_shift(trial->comm, i, 1, &out->rank[2 * i], &out->rank[2 * i + 1]);
        out->count = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(trial->comm, trial->rank, &out->count);
        PMPI_Graph_neighbors(trial->comm, trial->rank, out->count, out->rank);
    } else {
        PMPI_Dist_graph_neighbors_count(trial->comm, &in->count, &out->count, &weighted);
        PMPI_Dist_graph_neighbors(trial->comm, in->count, in->rank, weights, out->count, out->rank, weights);
        return;
    }
    in->count = out->count;
    memcpy(in->rank, out->rank, sizeof in->rank);
}

static bool has_twice(const struct partners *partners)
{
    for (int i = 0; i < partners->count; i++)
        for (int k = 0; k < i; k++)
            if (partners->rank[i] == partners->rank[k] && partners->rank[i] != MPI_PROC_NULL)
                return true;
    return false;
}

bool partners_twice(const struct trial *trial, const struct partners *out, const struct partners *in)
{
    int twice = has_twice(out) || has_twice(in), any = 0;
    PMPI_Allreduce(&twice, &any, 1, MPI_INT, MPI_MAX, trial->comm);
    return any;
}

/* One side of a call: whom with, and the blocks, in elements. */
struct side {
    struct partners with;
    int counts[EDGES_MOST], at[EDGES_MOST], units[EDGES_MOST], room;
    struct layout_way way;
};

/* Where nobody is there, and where blocks are alike, there is room for one, too. */
static void arrange_side(struct trial *trial, struct side *side, bool varies, bool is_one)
{
    int next = 0;
    for (int i = 0; i < side->with.count; i++) {
        next += varies && !is_one ? random_below(&trial->own, 3) : 0;
        side->counts[i] = side->units[i] * side->way.factor;
        side->at[i] = is_one ? 0 : next * side->way.factor;
        next += side->units[i];
    }
    side->room = next;
}

/* What it must give, by messages; where ranks have one another twice, by the MPI library, whose that is. */
static void by_messages(struct trial *trial, const char *from, const struct side *out, char *to, const struct side *in)
{
    MPI_Request requests[2 * EDGES_MOST];
    for (int i = 0; i < in->with.count; i++)
        PMPI_Irecv(to + in->at[i] * in->way.extent, in->counts[i], in->way.type, in->with.rank[i], 9, trial->comm,
                   &requests[i]);
    for (int i = 0; i < out->with.count; i++)
        PMPI_Isend(from + out->at[i] * out->way.extent, out->counts[i], out->way.type, out->with.rank[i], 9,
                   trial->comm, &requests[in->with.count + i]);
    for (int i = 0; i < in->with.count + out->with.count; i++)
        PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* By the MPI library. */
static int call_own(struct trial *trial, bool gathers, bool varies, const void *from, const struct side *out, int one,
                    void *to, const struct side *in, int each)
{
    MPI_Datatype sends = out->way.type, gets = in->way.type;
    if (varies && gathers)
        return PMPI_Neighbor_allgatherv(from, one, sends, to, in->counts, in->at, gets, trial->comm);
    if (varies)
        return PMPI_Neighbor_alltoallv(from, out->counts, out->at, sends, to, in->counts, in->at, gets, trial->comm);
    if (gathers)
        return PMPI_Neighbor_allgather(from, one, sends, to, each, gets, trial->comm);
    return PMPI_Neighbor_alltoall(from, one, sends, to, each, gets, trial->comm);
}

static int call(struct trial *trial, bool gathers, bool varies, const void *from, const struct side *out, int one,
                void *to, const struct side *in, int each)
{
    MPI_Datatype sends = out->way.type, gets = in->way.type;
#if MPI_VERSION >= 4
    MPI_Count wide[2][EDGES_MOST];
    MPI_Aint places[2][EDGES_MOST];
    for (int i = 0; i < EDGES_MOST; i++) {
        wide[0][i] = i < out->with.count ? out->counts[i] : -7, places[0][i] = i < out->with.count ? out->at[i] : -7;
        wide[1][i] = i < in->with.count ? in->counts[i] : -7, places[1][i] = i < in->with.count ? in->at[i] : -7;
    }
    if (trial->large && varies && gathers)
        return TESTED_WIDE(Neighbor_allgatherv, from, one, sends, to, wide[1], places[1], gets, trial->comm);
    if (trial->large && varies)
        return TESTED_WIDE(Neighbor_alltoallv, from, wide[0], places[0], sends, to, wide[1], places[1], gets,
                           trial->comm);
#endif
    if (varies && gathers)
        return TESTED_INT(Neighbor_allgatherv, from, one, sends, to, in->counts, in->at, gets, trial->comm);
    if (varies)
        return TESTED_INT(Neighbor_alltoallv, from, out->counts, out->at, sends, to, in->counts, in->at, gets,
                          trial->comm);
    if (gathers)
        return TESTED(Neighbor_allgather, from, one, sends, to, each, gets, trial->comm);
    return TESTED(Neighbor_alltoall, from, one, sends, to, each, gets, trial->comm);
}

bool try_neighbor(struct trial *trial, bool gathers, bool varies)
{
    struct plain base = draw_plain(trial);
    int unit = 1 + random_below(&trial->shared, 4),
        most = draw_count(trial, base.type, unit) / (trial->ranks > 2 ? 2 : 1) + 1;
    int alike = random_below(&trial->shared, most);
    uint64_t key = random_next(&trial->shared);
    struct side out = {.room = 0}, in = {.room = 0};
    out.way = draw_layout(trial, base.type, unit), in.way = draw_layout(trial, base.type, unit);
    partners_find(trial, &out.with, &in.with);
    for (int i = 0; i < out.with.count; i++) {
        struct random length = random_of(key, (uint64_t)trial->rank, gathers ? 7 : (uint64_t)out.with.rank[i] + 8);
        out.units[i] = varies ? random_below(&length, most) : alike;
    }
    for (int i = 0; i < in.with.count; i++) {
        struct random length = random_of(key, (uint64_t)in.with.rank[i], gathers ? 7 : (uint64_t)trial->rank + 8);
        in.units[i] = varies ? random_below(&length, most) : alike;
    }
    struct random length = random_of(key, (uint64_t)trial->rank, 7);
    int own = varies && gathers ? random_below(&length, most) : alike;
    arrange_side(trial, &out, varies, gathers);
    arrange_side(trial, &in, varies, false);
    struct pair send = make_anywhere(trial, span(&out.way, gathers ? own : out.room));
    struct pair receive = make_anywhere(trial, span(&in.way, in.room));
    say(trial, "%d to %d, up to %d x %d %s, here %s to %s", in.with.count, out.with.count, most - 1, unit, base.name,
        out.way.name, in.way.name);
    int one = own * out.way.factor, each = alike * in.way.factor;
    const bool twice = partners_twice(trial, &out.with, &in.with);
    if (twice && !gathers) /* one library's forms may differ in which of the two blocks goes where */
        trial->later = trial->persistent = false;
    bool good =
        call(trial, gathers, varies, inside(&send, 0), &out, one, inside(&receive, 0), &in, each) == MPI_SUCCESS;
    if (twice)
        good = call_own(trial, gathers, varies, inside(&send, 1), &out, one, inside(&receive, 1), &in, each) ==
                   MPI_SUCCESS &&
               good;
    else
        by_messages(trial, inside(&send, 1), &out, inside(&receive, 1), &in);
    good = good && same(&receive) && same(&send);
    discard(&send);
    discard(&receive);
    layouts_free(&out.way);
    layouts_free(&in.way);
    return good;
}
