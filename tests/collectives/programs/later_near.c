/* Nonblocking and persistent collectives of neighbours: on a line, on a ring, on a torus that may be two ranks wide, on graphs in
 * which anybody may be anybody's neighbour, or somebody twice; short blocks and long ones, types with gaps, types that are freed
 * before the wait, several calls under way, ranks that are ahead of others, and other collectives between. What comes must be what
 * was sent; persistent ones are started several times, with the word "ours" such alone as our library serves. Where somebody is somebody's neighbour twice all sends to one neighbour are alike, as MPI libraries differ there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

/* MPICH before 4.1 takes the number of sources for that of targets in its own alltoallw of neighbours (its issue 6233). */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
#define HAS_W_ON_GRAPHS 0
#else
#define HAS_W_ON_GRAPHS 1
#endif

enum { SHAPES = 6, GRAPHS = 3, KINDS = 5, UNDER_WAY = 4, STARTS = 6 };

static int wrong, only_ours;

struct one {
    MPI_Request request;
    unsigned call;
    int kind, rank, start, step; /* how often it was started before; ints from number to number */
    MPI_Comm comm;
    MPI_Datatype type;
    int targets, sources, target[RANKS_MOST], source[RANKS_MOST];
    int counts[2][RANKS_MOST], at[2][RANKS_MOST], room[2], *send, *receive;
    MPI_Aint far[2][RANKS_MOST];
    MPI_Datatype types[2][RANKS_MOST];
};

static void find_neighbours(struct one *one)
{
    int kind, weights[RANKS_MOST], weighted;
    MPI_Topo_test(one->comm, &kind);
    if (kind == MPI_CART) {
        int dimensions;
        MPI_Cartdim_get(one->comm, &dimensions);
        for (int i = 0; i < dimensions; i++)
            MPI_Cart_shift(one->comm, i, 1, &one->target[2 * i], &one->target[2 * i + 1]);
        one->targets = one->sources = 2 * dimensions;
        memcpy(one->source, one->target, sizeof one->source);
    } else {
        MPI_Dist_graph_neighbors_count(one->comm, &one->sources, &one->targets, &weighted);
        MPI_Dist_graph_neighbors(one->comm, one->sources, one->source, weights, one->targets, one->target, weights);
    }
}

/* What is short enough for ours, where nothing else is wanted. */
static int fit(int numbers)
{
    return only_ours && numbers >= LONG ? numbers % LONG : numbers;
}

/* Of an allgather the same for all; of those without a v everywhere. */
static int wanted(const struct one *one, int from, int to)
{
    switch (one->kind) {
    case 0:
    case 2: return 1 + fit(length(one->call, 0, 0));
    case 1: return fit(length(one->call, from, 0));
    default: return fit(length(one->call, from, to));
    }
}

static int value(const struct one *one, int from, int to, int index)
{
    return number(one->call, from, one->kind < 2 ? 0 : to, index) + one->start;
}

static void arrange(struct one *one, int side, int others, const int *other)
{
    int next = 0;
    for (int i = 0; i < others; i++) {
        const int from = side == 0 ? one->rank : other[i], to = side == 0 ? other[i] : one->rank;
        const int count = other[i] == MPI_PROC_NULL ? wanted(one, 0, 0) : wanted(one, from, to);
        one->counts[side][i] = count, one->at[side][i] = side == 0 && one->kind < 2 ? 0 : next;
        one->far[side][i] = (MPI_Aint)one->at[side][i] * one->step * (MPI_Aint)sizeof(int);
        MPI_Type_dup(one->type, &one->types[side][i]);
        next += count;
    }
    one->room[side] = (next + 1) * one->step;
    int *made = malloc((size_t)one->room[side] * sizeof(int));
    if (side == 0)
        one->send = made;
    else
        one->receive = made;
}

static void fill(struct one *one)
{
    for (int i = 0; i < one->room[0]; i++)
        one->send[i] = -5;
    for (int i = 0; i < one->room[1]; i++)
        one->receive[i] = -5;
    for (int i = 0; i < one->targets; i++)
        for (int k = 0; k < one->counts[0][i] && one->target[i] != MPI_PROC_NULL; k++)
            one->send[(one->at[0][i] + k) * one->step] = value(one, one->rank, one->target[i], k);
}

static void free_types(struct one *one)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side == 0 ? one->targets : one->sources); i++)
            MPI_Type_free(&one->types[side][i]);
    MPI_Type_free(&one->type);
}

static void begin(struct one *one, int persistent)
{
    MPI_Type_create_resized(MPI_INT, 0, one->step * (MPI_Aint)sizeof(int), &one->type);
    MPI_Type_commit(&one->type);
    find_neighbours(one);
    arrange(one, 0, one->targets, one->target);
    arrange(one, 1, one->sources, one->source);
    const int *out = one->counts[0], *out_at = one->at[0], *in = one->counts[1], *in_at = one->at[1];
    const int one_out = one->kind == 1 ? wanted(one, one->rank, 0) : wanted(one, 0, 0), one_in = wanted(one, 0, 0);
    fill(one);
    void *from = one->send, *to = one->receive;
    MPI_Datatype type = one->type;
    MPI_Comm comm = one->comm;
    MPI_Request *request = &one->request;
#if HAS_PERSISTENT
    if (persistent)
        switch (one->kind) {
        case 0: MPI_Neighbor_allgather_init(from, one_out, type, to, one_in, type, comm, MPI_INFO_NULL, request); break;
        case 1:
            MPI_Neighbor_allgatherv_init(from, one_out, type, to, in, in_at, type, comm, MPI_INFO_NULL, request);
            break;
        case 2: MPI_Neighbor_alltoall_init(from, one_out, type, to, one_in, type, comm, MPI_INFO_NULL, request); break;
        case 3:
            MPI_Neighbor_alltoallv_init(from, out, out_at, type, to, in, in_at, type, comm, MPI_INFO_NULL, request);
            break;
        default:
            MPI_Neighbor_alltoallw_init(from, out, one->far[0], one->types[0], to, in, one->far[1], one->types[1], comm,
                                        MPI_INFO_NULL, request);
        }
    else
#endif
        switch (one->kind) {
        case 0: MPI_Ineighbor_allgather(from, one_out, type, to, one_in, type, comm, request); break;
        case 1: MPI_Ineighbor_allgatherv(from, one_out, type, to, in, in_at, type, comm, request); break;
        case 2: MPI_Ineighbor_alltoall(from, one_out, type, to, one_in, type, comm, request); break;
        case 3: MPI_Ineighbor_alltoallv(from, out, out_at, type, to, in, in_at, type, comm, request); break;
        default:
            MPI_Ineighbor_alltoallw(from, out, one->far[0], one->types[0], to, in, one->far[1], one->types[1], comm,
                                    request);
        }
    if (persistent)
        MPI_Start(request);
    else /* Open MPI 5.0.11 by itself keeps no types for persistent ones of neighbours */
        free_types(one);
}

static void check(const struct one *one)
{
    for (int i = 0; i < one->sources; i++)
        for (int k = 0; k < one->counts[1][i]; k++) {
            const int there = one->source[i] != MPI_PROC_NULL;
            wrong += one->receive[(one->at[1][i] + k) * one->step] !=
                     (there ? value(one, one->source[i], one->rank, k) : -5);
        }
}

/* Whoever chance says; `twice`: each of them two times. */
static MPI_Comm graph(int rank, int ranks, unsigned chance, int twice)
{
    static const int weights[RANKS_MOST];
    int sources[RANKS_MOST], targets[RANKS_MOST], in = 0, out = 0;
    MPI_Comm made;
    for (int other = 0; other < ranks; other++)
        for (int k = 0; k <= twice; k++) {
            if (mixed(chance, (unsigned)(rank * RANKS_MOST + other)) % 3 != 0)
                targets[out++] = other;
            if (mixed(chance, (unsigned)(other * RANKS_MOST + rank)) % 3 != 0)
                sources[in++] = other;
        }
    for (int i = 0; i < in / 2 && !twice; i++) { /* in another order */
        int kept = sources[i];
        sources[i] = sources[in - 1 - i], sources[in - 1 - i] = kept;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, targets, weights, MPI_INFO_NULL, 0,
                                   &made);
    return made;
}

static void make(MPI_Comm *comms, int rank, int ranks)
{
    int none[2] = {0, 0}, all[2] = {1, 1}, wide[2] = {0, 0}, line = ranks;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &line, none, 0, &comms[0]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &line, all, 0, &comms[1]);
    MPI_Dims_create(ranks, 2, wide);
    MPI_Cart_create(MPI_COMM_WORLD, 2, wide, all, 0, &comms[2]);
    for (unsigned i = GRAPHS; i < SHAPES; i++)
        comms[i] = graph(rank, ranks, i, i == 5);
}

/* Whether somebody may be somebody's neighbour twice. */
static int is_twice(int shape, int ranks)
{
    return shape == 2 || shape == 5 || (shape == 1 && ranks == 2);
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 1000, persistent = argc > 2 && strcmp(argv[2], "nonblocking") != 0;
    MPI_Comm comms[SHAPES];
    int rank, ranks, all;
    only_ours = argc > 2 && strcmp(argv[2], "ours") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (persistent && !HAS_PERSISTENT) {
        printf("none\n");
        MPI_Finalize();
        return 0;
    }
    make(comms, rank, ranks);
    for (int from = 0; from < calls; from += UNDER_WAY) {
        struct one *one = calloc(UNDER_WAY, sizeof *one);
        MPI_Request requests[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            const unsigned call = (unsigned)(from + i), chance = mixed(call, 99);
            const int drawn = (int)(chance % SHAPES), kind = (int)((chance >> 6) % KINDS);
            const int shape = only_ours && is_twice(drawn, ranks) ? 0 : drawn;
            one[i] = (struct one){.call = call, .kind = is_twice(shape, ranks) ? kind % 2 : kind, .comm = comms[shape]};
            if (!HAS_W_ON_GRAPHS && !only_ours && shape >= GRAPHS && one[i].kind == 4)
                one[i].kind = 3;
            MPI_Comm_rank(one[i].comm, &one[i].rank);
            one[i].step = mixed(call, (unsigned)rank) & 1 ? GAP : 1;
        }
        /* On different communicators calls need not begin in the same order; a request is made where all wait. */
        for (int c = 0; c < SHAPES; c++)
            for (int i = 0; i < UNDER_WAY; i++)
                if (one[i].comm == comms[persistent ? c : (c + rank) % SHAPES])
                    begin(&one[i], persistent);
        if (from % 5 == 0) {
            int sum = 0;
            MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, comms[GRAPHS]);
            wrong += sum != from * ranks;
        }
        for (int i = 0; i < UNDER_WAY; i++)
            requests[i] = one[i].request;
        if (from % 3 == 0) {
            for (int i = UNDER_WAY - 1, done = 0; i >= 0; i -= done != 0)
                MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        } else if (from % 3 == 1) {
            MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int i = 0, which; i < UNDER_WAY; i++)
                MPI_Waitany(UNDER_WAY, requests, &which, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < UNDER_WAY; i++)
            check(&one[i]);
        for (int again = 1; again < STARTS && persistent; again++) {
            for (int i = 0; i < UNDER_WAY; i++) {
                one[i].start = again;
                fill(&one[i]);
            }
            for (int i = 0; i < UNDER_WAY; i++) /* in any order */
                MPI_Start(&requests[(i + rank) % UNDER_WAY]);
            MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < UNDER_WAY; i++)
                check(&one[i]);
        }
        for (int i = 0; i < UNDER_WAY; i++) {
            if (persistent) {
                MPI_Request_free(&requests[i]);
                free_types(&one[i]);
            }
            free(one[i].send);
            free(one[i].receive);
        }
        free(one);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", all == 0 ? "right" : "wrong");
    for (int i = 0; i < SHAPES; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return all != 0;
}
