/* Nonblocking collectives of several sizes, each checked, on the world and on a copy of it; with an argument, with
 * MPI_THREAD_MULTIPLE. Rank 0 prints "right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 18, TURNS = 3 };

static int rank, ranks, wrong;

static void await(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void check(const int *found, int count, int expected)
{
    for (int i = 0; i < count; i++)
        wrong += found[i] != expected + i % 7;
}

static void fill(int *numbers, int count, int from)
{
    for (int i = 0; i < count; i++)
        numbers[i] = from + i % 7;
}

static void run(MPI_Comm comm, int count, int turn, int *own, int *all)
{
    MPI_Request request;
    const int root = turn % ranks;
    fill(own, count, rank == root ? 100 * turn : -1);
    MPI_Ibcast(own, count, MPI_INT, root, comm, &request);
    await(&request);
    check(own, count, 100 * turn);
    fill(own, count, rank);
    MPI_Iallgather(own, count, MPI_INT, all, count, MPI_INT, comm, &request);
    await(&request);
    for (int i = 0; i < ranks; i++)
        check(all + i * count, count, i);
    fill(own, count, turn);
    memset(all, 0, (size_t)count * sizeof *all);
    MPI_Ireduce(own, all, count, MPI_INT, MPI_MAX, root, comm, &request);
    await(&request);
    if (rank == root)
        check(all, count, turn);
    MPI_Iallreduce(own, all, count, MPI_INT, MPI_MAX, comm, &request);
    await(&request);
    check(all, count, turn);
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
    int *own = malloc(MOST * sizeof *own), *all = malloc((size_t)ranks * MOST * sizeof *all);
    for (int turn = 0; turn < TURNS; turn++)
        for (int numbers = 1; numbers <= MOST; numbers *= 64) {
            run(MPI_COMM_WORLD, numbers, turn, own, all);
            run(copy, numbers, turn, own, all);
        }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong == 0 ? "right" : "WRONG");
    MPI_Comm_free(&copy);
    free(own);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
