/* Alltoall and allgather by messages and by one-sided transfers, in turn: microseconds of the slowest rank, medians.
 *
 *     mpirun -n 8 one_sided SECONDS BYTES...
 *
 * One-sided gets the best case: the window is allocated once, by MPI (so that it may be shared or registered memory), what
 * is in it stays there, and every rank puts (or gets) straight from its buffer; a real collective would have to copy to
 * or from the caller's own memory, or to attach that each time. A call ends when all that a rank is to receive is there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAYS = 4, LEAST = 5, MOST = 1000 };
static const char *const names[WAYS] = {"messages", "put_fence", "put_flush", "get_flush"};

static int rank, ranks;
static MPI_Win window;
static char *mine, *shown; /* what this rank has; its part of the window */

/* Where in `shown` the block of a rank, or for a rank, is. */
static MPI_Aint place(int block, int bytes)
{
    return (MPI_Aint)block * bytes;
}

static void messages(int alltoall, int bytes, MPI_Request *requests)
{
    for (int i = 1; i < ranks; i++) {
        int from = (rank - i + ranks) % ranks;
        MPI_Irecv(shown + place(from, bytes), bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[i - 1]);
    }
    for (int i = 1; i < ranks; i++) {
        int to = (rank + i) % ranks;
        MPI_Isend(mine + (alltoall ? place(to, bytes) : 0), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD,
                  &requests[ranks - 2 + i]);
    }
    MPI_Waitall(2 * (ranks - 1), requests, MPI_STATUSES_IGNORE);
}

static void put_all(int alltoall, int bytes)
{
    for (int i = 1; i < ranks; i++) {
        int to = (rank + i) % ranks;
        MPI_Put(mine + (alltoall ? place(to, bytes) : 0), bytes, MPI_BYTE, to, place(rank, bytes), bytes, MPI_BYTE,
                window);
    }
}

static void put_fence(int alltoall, int bytes)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    put_all(alltoall, bytes);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/* Under one lock for the whole time. What is flushed is at its target; a barrier says so to all. */
static void put_flush(int alltoall, int bytes)
{
    put_all(alltoall, bytes);
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
}

/* What the others are to get must be there, and must stay until they have it. It is in the window, what is got is not. */
static void get_flush(int alltoall, int bytes)
{
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < ranks; i++) {
        int from = (rank + i) % ranks;
        MPI_Get(mine + place(from, bytes), bytes, MPI_BYTE, from, alltoall ? place(rank, bytes) : 0, bytes, MPI_BYTE,
                window);
    }
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Fences and locks may not be mixed: the lock is held but for fences. */
static double timed(int way, int alltoall, int bytes, MPI_Request *requests)
{
    if (way == 1)
        MPI_Win_unlock_all(window);
    usleep(1000); /* as in collectives_nodes: links let a burst through after a rest */
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    if (way == 0)
        messages(alltoall, bytes, requests);
    else if (way == 1)
        put_fence(alltoall, bytes);
    else if (way == 2)
        put_flush(alltoall, bytes);
    else
        get_flush(alltoall, bytes);
    double took = MPI_Wtime() - begun;
    if (way == 1)
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    return took;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double slowest(double *seconds, int count)
{
    double worst;
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    MPI_Allreduce(&seconds[count / 2], &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst * 1e6;
}

static void measure(int alltoall, int bytes, double seconds, MPI_Request *requests)
{
    static double times[WAYS][MOST];
    double begun = MPI_Wtime(), spent = 0;
    int count = 0;
    for (; count < MOST && (count < LEAST || spent < WAYS * seconds); count++) {
        for (int way = 0; way < WAYS; way++)
            times[way][count] = timed(way, alltoall, bytes, requests);
        spent = MPI_Wtime() - begun;
        MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%s %d", alltoall ? "alltoall" : "allgather", bytes);
    for (int way = 0; way < WAYS; way++) {
        double worst = slowest(times[way], count);
        if (rank == 0)
            printf(" %s %.2f", names[way], worst);
    }
    if (rank == 0) {
        printf("\n");
        fflush(stdout);
    }
}

/* Whether puts and gets bring what messages bring; the first rank's word counts for all. */
static int right(int bytes, MPI_Request *requests)
{
    int good = 1, all;
    for (int way = 0; way < WAYS; way++) {
        char *has = way == 3 ? shown : mine, *gets = way == 3 ? mine : shown;
        for (int i = 0; i < ranks; i++)
            memset(has + place(i, bytes), 1 + rank * ranks + i, (size_t)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        timed(way, 1, bytes, requests);
        for (int i = 0; i < ranks; i++)
            good = good && (i == rank || gets[place(i, bytes) + bytes - 1] == (char)(1 + i * ranks + rank));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int most = 1, wrong = argc < 3 || ranks < 2;
    for (int i = 2; i < argc; i++)
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    MPI_Request *requests = malloc(2 * (size_t)ranks * sizeof(MPI_Request));
    mine = calloc((size_t)ranks, (size_t)most);
    if (requests == NULL || mine == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_allocate((MPI_Aint)ranks * most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 2; i < argc && !wrong; i++)
        wrong = !right(atoi(argv[i]), requests);
    for (int i = 2; i < argc && !wrong; i++)
        for (int alltoall = 0; alltoall < 2; alltoall++)
            measure(alltoall, atoi(argv[i]), atof(argv[1]), requests);
    if (wrong && rank == 0)
        fprintf(stderr, "one_sided SECONDS BYTES... on two ranks or more; or a transfer brought something else\n");
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(mine), free(requests);
    MPI_Finalize();
    return wrong ? 2 : 0;
}
