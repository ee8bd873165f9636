/* Persistent collectives of several sizes, made once and started with other data each time, on the world and on a copy of it, in
 * place and not; then with operations of the program's, one whose order matters and one that says in which pieces it was asked to
 * combine. "right" at the end, "none" where the MPI has none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

#include "maps.h"

enum { MOST = 1 << 18, STARTS = 3, COUNT = 12000 };

static int rank, ranks, wrong, longest;

static int value(int start, int from, int index)
{
    return 100 * start + from + index % 7;
}

static void fill(int *numbers, int count, int start, int from)
{
    for (int i = 0; i < count; i++)
        numbers[i] = value(start, from, i);
}

static void expect(int good, const char *what, int count)
{
    if (!good && !wrong)
        fprintf(stderr, "rank %d of %d: %s of %d is wrong\n", rank, ranks, what, count);
    wrong += !good;
}

static void check(const char *what, const int *found, int count, int start, int from)
{
    int good = 1;
    for (int i = 0; i < count; i++)
        good = good && found[i] == value(start, from, i);
    expect(good, what, count);
}

/* The sum of what the first ranks have. */
static void check_sum(const char *what, const int *found, int count, int start, int until)
{
    int good = 1;
    for (int i = 0; i < count; i++)
        good = good && found[i] == until * value(start, 0, i) + until * (until - 1) / 2;
    expect(good, what, count);
}

static void once(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void move(MPI_Comm comm, int count, int root, int in_place, int *own, int *all)
{
    MPI_Request bcast, allgather;
    int *mine = in_place ? all + rank * count : own;
    MPI_Bcast_init(own, count, MPI_INT, root, comm, MPI_INFO_NULL, &bcast);
    MPI_Allgather_init(in_place ? MPI_IN_PLACE : own, count, MPI_INT, all, count, MPI_INT, comm, MPI_INFO_NULL,
                       &allgather);
    for (int start = 0; start < STARTS; start++) {
        fill(own, count, start, rank == root ? 50 : -1);
        once(&bcast);
        check("a broadcast", own, count, start, 50);
        memset(all, 0, (size_t)(count * ranks) * sizeof *all);
        fill(mine, count, start, rank);
        once(&allgather);
        for (int i = 0; i < ranks; i++)
            check("an allgather", all + i * count, count, start, i);
    }
    MPI_Request_free(&bcast);
    MPI_Request_free(&allgather);
}

static void combine(MPI_Comm comm, int count, int root, int in_place, int *own, int *all)
{
    enum { ALLREDUCE, REDUCE, SCAN, EXSCAN, KINDS };
    MPI_Request requests[KINDS];
    const MPI_Info none = MPI_INFO_NULL;
    const void *send = in_place ? MPI_IN_PLACE : own, *at_root = rank == root ? send : own;
    int *got[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        got[kind] = in_place && (kind != REDUCE || rank == root) ? all + kind * count : own;
    MPI_Allreduce_init(send, all, count, MPI_INT, MPI_SUM, comm, none, &requests[ALLREDUCE]);
    MPI_Reduce_init(at_root, all + count, count, MPI_INT, MPI_SUM, root, comm, none, &requests[REDUCE]);
    MPI_Scan_init(send, all + 2 * count, count, MPI_INT, MPI_SUM, comm, none, &requests[SCAN]);
    MPI_Exscan_init(send, all + 3 * count, count, MPI_INT, MPI_SUM, comm, none, &requests[EXSCAN]);
    for (int start = 0; start < STARTS; start++) {
        memset(all, 0, (size_t)(count * KINDS) * sizeof *all);
        for (int kind = 0; kind < KINDS; kind++)
            fill(got[kind], count, start, rank);
        MPI_Startall(KINDS, requests);
        MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
        check_sum("an allreduce", all, count, start, ranks);
        if (rank == root)
            check_sum("a reduce", all + count, count, start, ranks);
        check_sum("a scan", all + 2 * count, count, start, rank + 1);
        if (rank > 0)
            check_sum("an exscan", all + 3 * count, count, start, rank);
    }
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Request_free(&requests[kind]);
}

static void in_order(void)
{
    enum { MAPS = MAPS_MOST };
    static struct map mine[MAPS], all[MAPS], first[MAPS], right[MAPS];
    MPI_Request requests[2];
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(follow, 0, &op);
    maps_of(rank, mine, MAPS);
    maps_in_order(ranks, right, MAPS);
    MPI_Allreduce_init(mine, all, MAPS, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Reduce_init(mine, first, MAPS, type, op, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < STARTS; start++) {
        memset(all, 0, sizeof all);
        memset(first, 0, sizeof first);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(memcmp(all, right, sizeof all) == 0, "an allreduce in order", MAPS);
        expect(rank > 0 || memcmp(first, right, sizeof first) == 0, "a reduce in order", MAPS);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    const int *one = left;
    int *other = right;
    (void)type;
    longest = *count > longest ? *count : longest;
    for (int i = 0; i < *count; i++)
        other[i] += one[i];
}

/* A persistent one, and then one that does not block and is half as long: rank 0 says how long the longest piece of each was. */
static void in_pieces(int *own, int *all)
{
    MPI_Request request;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce_init(own, all, COUNT, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 0; start < STARTS; start++) {
        fill(own, COUNT, start, rank);
        once(&request);
        check_sum("an allreduce in pieces", all, COUNT, start, ranks);
    }
    MPI_Request_free(&request);
    int before = longest;
    longest = 0;
    MPI_Iallreduce(own, all, COUNT / 2, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum("an iallreduce", all, COUNT / 2, STARTS - 1, ranks);
    if (rank == 0)
        printf("pieces of %d and %d\n", before, longest);
    MPI_Op_free(&op);
}

int main(int count, char **arguments)
{
    int provided;
    MPI_Comm copy;
    (void)arguments;
    MPI_Init_thread(NULL, NULL, count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const size_t blocks = ranks > 4 ? (size_t)ranks : 4;
    int *own = malloc(MOST * sizeof *own), *all = malloc(blocks * MOST * sizeof *all);
    for (int numbers = 1, turn = 0; numbers <= MOST; numbers *= 64)
        for (int in_place = 0; in_place < 2; in_place++, turn++) {
            const MPI_Comm comm = turn % 3 == 1 ? copy : MPI_COMM_WORLD;
            move(comm, numbers, turn % ranks, in_place, own, all);
            combine(comm, numbers, turn % ranks, in_place, own, all);
        }
    in_order();
    in_pieces(own, all);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong == 0 ? "right" : "WRONG");
    MPI_Comm_free(&copy);
    free(own);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}

#else

int main(void)
{
    puts("none");
    return 0;
}

#endif
