/* Every collective that the library serves, by its name, on numbers that say which round and rank they are from. A program may
 * say where the memory comes from, and be told when the numbers are written and read here (device.c). */
#ifndef UNISONO_ANY_H
#define UNISONO_ANY_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* One call: `count` numbers of a block, of bcast and what reduces or scans of the vector; with a `gap` of one number behind
 * each, but where numbers are combined. */
struct any {
    MPI_Comm comm; /* of any_comm() */
    int count, gap, round;
};

enum { ANY_WRONG = -1, ANY_UNKNOWN = -2 };

static void any_ignore(int here)
{
    (void)here;
}

static void *(*any_get)(size_t) = malloc;
static void (*any_put)(void *) = free;
static void (*any_touch)(int here) = any_ignore; /* 1: the program is going to; 0: it has */

static int any_is_near(const char *name)
{
    return strncmp(name, "neighbor_", strlen("neighbor_")) == 0;
}

static int any_combines(const char *name)
{
    return strstr(name, "reduce") != NULL || strstr(name, "scan") != NULL;
}

/* A communicator of the same ranks; for neighbourhoods everybody else is a neighbour, in the order of the ranks. */
static MPI_Comm any_comm(const char *name, MPI_Comm from)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rank, ranks;
    MPI_Comm_rank(from, &rank);
    MPI_Comm_size(from, &ranks);
    if (!any_is_near(name)) {
        MPI_Comm_dup(from, &made);
        return made;
    }
    int *others = calloc(2 * (size_t)ranks, sizeof *others), *weights = others + ranks;
    for (int i = 0; i < ranks - 1; i++)
        others[i] = i < rank ? i : i + 1;
    MPI_Dist_graph_create_adjacent(from, ranks - 1, others, weights, ranks - 1, others, weights, MPI_INFO_NULL, 0,
                                   &made);
    free(others);
    return made;
}

/* The message size, as unisono_applies() counts it. */
static inline long long any_bytes(const char *name, const struct any *any)
{
    int ranks;
    MPI_Comm_size(any->comm, &ranks);
    return (long long)any->count * (long long)sizeof(int) *
           (strcmp(name + (name[0] == 'i'), "reduce_scatter") == 0 ? ranks : 1);
}

/* What a rank has for another. */
static int any_number(int round, int from, int to)
{
    return round * 1000 + from * 100 + to;
}

/* The sum of what ranks below `ranks` have for another. */
static int any_sum(int round, int ranks, int to)
{
    return ranks * round * 1000 + 100 * (ranks * (ranks - 1) / 2) + ranks * to;
}

/* The arguments of a call, and who is asked. */
struct any_call {
    int rank, ranks, root, count, stride;
    int *send, *receive;
    int *counts, *places, *bytes; /* by rank, in elements and bytes */
    MPI_Aint *far;                /* the latter once more */
    MPI_Datatype type, *types;
};

#define IS(word) (strcmp(name, word) == 0)

/* The nonblocking ones that the library serves have an "i" before their names, as no other has. */
static const char *any_blocking(const char *name)
{
    return name[0] == 'i' ? name + 1 : name;
}

static int any_begin(const char *name, const struct any_call *a, MPI_Comm comm, MPI_Request *request)
{
    int *send = a->send, *receive = a->receive, count = a->count, root = a->root;
    MPI_Datatype type = a->type;
    if (IS("ibarrier"))
        return MPI_Ibarrier(comm, request);
    if (IS("ibcast"))
        return MPI_Ibcast(a->rank == root ? send : receive, count, type, root, comm, request);
    if (IS("ireduce"))
        return MPI_Ireduce(send, receive, count, type, MPI_SUM, root, comm, request);
    if (IS("iallreduce"))
        return MPI_Iallreduce(send, receive, count, type, MPI_SUM, comm, request);
    if (IS("iscan"))
        return MPI_Iscan(send, receive, count, type, MPI_SUM, comm, request);
    if (IS("iexscan"))
        return MPI_Iexscan(send, receive, count, type, MPI_SUM, comm, request);
    if (IS("ireduce_scatter_block"))
        return MPI_Ireduce_scatter_block(send, receive, count, type, MPI_SUM, comm, request);
    if (IS("ireduce_scatter"))
        return MPI_Ireduce_scatter(send, receive, a->counts, type, MPI_SUM, comm, request);
    if (IS("iallgatherv"))
        return MPI_Iallgatherv(send, count, type, receive, a->counts, a->places, type, comm, request);
    if (IS("igatherv"))
        return MPI_Igatherv(send, count, type, receive, a->counts, a->places, type, root, comm, request);
    if (IS("iscatterv"))
        return MPI_Iscatterv(send, a->counts, a->places, type, receive, count, type, root, comm, request);
    if (IS("ialltoallv"))
        return MPI_Ialltoallv(send, a->counts, a->places, type, receive, a->counts, a->places, type, comm, request);
    if (IS("iallgather"))
        return MPI_Iallgather(send, count, type, receive, count, type, comm, request);
    if (IS("igather"))
        return MPI_Igather(send, count, type, receive, count, type, root, comm, request);
    if (IS("iscatter"))
        return MPI_Iscatter(send, count, type, receive, count, type, root, comm, request);
    if (IS("ialltoall"))
        return MPI_Ialltoall(send, count, type, receive, count, type, comm, request);
    return ANY_UNKNOWN;
}

static int any_do(const char *name, const struct any_call *a, MPI_Comm comm)
{
    int *send = a->send, *receive = a->receive, count = a->count, root = a->root;
    MPI_Datatype type = a->type;
    if (any_blocking(name) != name) {
        MPI_Request request = MPI_REQUEST_NULL;
        int error = any_begin(name, a, comm, &request);
        return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
    }
    if (IS("barrier"))
        return MPI_Barrier(comm);
    if (IS("bcast"))
        return MPI_Bcast(a->rank == root ? send : receive, count, type, root, comm);
    if (IS("reduce"))
        return MPI_Reduce(send, receive, count, type, MPI_SUM, root, comm);
    if (IS("allreduce"))
        return MPI_Allreduce(send, receive, count, type, MPI_SUM, comm);
    if (IS("scan"))
        return MPI_Scan(send, receive, count, type, MPI_SUM, comm);
    if (IS("exscan"))
        return MPI_Exscan(send, receive, count, type, MPI_SUM, comm);
    if (IS("reduce_scatter"))
        return MPI_Reduce_scatter(send, receive, a->counts, type, MPI_SUM, comm);
    if (IS("reduce_scatter_block"))
        return MPI_Reduce_scatter_block(send, receive, count, type, MPI_SUM, comm);
    if (IS("allgather"))
        return MPI_Allgather(send, count, type, receive, count, type, comm);
    if (IS("allgatherv"))
        return MPI_Allgatherv(send, count, type, receive, a->counts, a->places, type, comm);
    if (IS("gather"))
        return MPI_Gather(send, count, type, receive, count, type, root, comm);
    if (IS("gatherv"))
        return MPI_Gatherv(send, count, type, receive, a->counts, a->places, type, root, comm);
    if (IS("scatter"))
        return MPI_Scatter(send, count, type, receive, count, type, root, comm);
    if (IS("scatterv"))
        return MPI_Scatterv(send, a->counts, a->places, type, receive, count, type, root, comm);
    if (IS("alltoall"))
        return MPI_Alltoall(send, count, type, receive, count, type, comm);
    if (IS("alltoallv"))
        return MPI_Alltoallv(send, a->counts, a->places, type, receive, a->counts, a->places, type, comm);
    if (IS("alltoallw"))
        return MPI_Alltoallw(send, a->counts, a->bytes, a->types, receive, a->counts, a->bytes, a->types, comm);
    if (IS("neighbor_allgather"))
        return MPI_Neighbor_allgather(send, count, type, receive, count, type, comm);
    if (IS("neighbor_allgatherv"))
        return MPI_Neighbor_allgatherv(send, count, type, receive, a->counts, a->places, type, comm);
    if (IS("neighbor_alltoall"))
        return MPI_Neighbor_alltoall(send, count, type, receive, count, type, comm);
    if (IS("neighbor_alltoallv"))
        return MPI_Neighbor_alltoallv(send, a->counts, a->places, type, receive, a->counts, a->places, type, comm);
    if (IS("neighbor_alltoallw"))
        return MPI_Neighbor_alltoallw(send, a->counts, a->far, a->types, receive, a->counts, a->far, a->types, comm);
    return ANY_UNKNOWN;
}

/* Whom a block is for, or from. */
static int any_other(const char *name, const struct any_call *a, int block)
{
    return any_is_near(name) && block >= a->rank ? block + 1 : block;
}

/* How many blocks this rank gets, and number 0 .. count - 1 of one of them, all of which are alike. */
static int any_expected(const char *name, const struct any_call *a, int round, int block, int *number)
{
    const int rank = a->rank, ranks = a->ranks, is_root = rank == a->root, other = any_other(name, a, block);
    name = any_blocking(name);
    *number = any_number(round, other, strstr(name, "alltoall") != NULL ? rank : 0);
    if (IS("barrier"))
        return 0;
    if (IS("bcast")) {
        *number = any_number(round, a->root, 0);
        return !is_root;
    }
    if (IS("scatter") || IS("scatterv")) {
        *number = any_number(round, a->root, rank);
        return 1;
    }
    if (IS("gather") || IS("gatherv"))
        return is_root ? ranks : 0;
    if (!any_combines(name))
        return any_is_near(name) ? ranks - 1 : ranks;
    const int below = IS("scan") ? rank + 1 : IS("exscan") ? rank : ranks;
    *number = any_sum(round, below, strstr(name, "scatter") != NULL ? rank : 0);
    return IS("reduce") ? is_root : below > 0;
#undef IS
}

static int any_is_wrong(const char *name, const struct any_call *a, int round)
{
    int wrong = 0, blocks = 1, number;
    for (int block = 0; block < blocks; block++) {
        blocks = any_expected(name, a, round, block, &number);
        for (int i = 0; i < a->count && block < blocks; i++)
            wrong += a->receive[(block * a->count + i) * a->stride] != number;
    }
    return wrong;
}

/* What MPI said; ANY_WRONG: it said nothing, and the result is not right. */
static int any_run(const char *name, const struct any *any)
{
    struct any_call a = {.count = any->count, .stride = any->gap && !any_combines(name) ? 2 : 1};
    MPI_Datatype type = MPI_INT;
    MPI_Comm_rank(any->comm, &a.rank);
    MPI_Comm_size(any->comm, &a.ranks);
    a.root = any->round % a.ranks;
    if (a.stride > 1) {
        MPI_Type_create_resized(MPI_INT, 0, a.stride * (MPI_Aint)sizeof(int), &type);
        MPI_Type_commit(&type);
    }
    const size_t ranks = (size_t)a.ranks, all = ranks * (size_t)a.count * (size_t)a.stride * sizeof(int) + sizeof(int);
    a.type = type;
    a.types = malloc(ranks * sizeof *a.types);
    a.counts = malloc(3 * ranks * sizeof *a.counts);
    a.far = malloc(ranks * sizeof *a.far);
    a.places = a.counts + ranks, a.bytes = a.places + ranks;
    a.send = any_get(all), a.receive = any_get(all);
    any_touch(1);
    for (int i = 0; i < a.ranks; i++) {
        a.counts[i] = a.count, a.places[i] = i * a.count, a.types[i] = type;
        a.far[i] = a.bytes[i] = a.places[i] * a.stride * (int)sizeof(int);
        for (int k = 0; k < a.count; k++) {
            int at = (a.places[i] + k) * a.stride;
            /* One vector, or one block for all, is the first. */
            a.send[at] = any_number(any->round, a.rank, any_other(name, &a, i)), a.receive[at] = -1;
        }
    }
    for (int k = 0; k < a.count && strstr(name, "neighbor_allgather") != NULL; k++)
        a.send[k * a.stride] = any_number(any->round, a.rank, 0);
    any_touch(0);
    int error = any_do(name, &a, any->comm);
    any_touch(1);
    if (error == MPI_SUCCESS && any_is_wrong(name, &a, any->round))
        error = ANY_WRONG;
    any_touch(0);
    any_put(a.send);
    any_put(a.receive);
    free(a.counts);
    free(a.far);
    free(a.types);
    if (a.stride > 1)
        MPI_Type_free(&type);
    return error;
}

#endif
