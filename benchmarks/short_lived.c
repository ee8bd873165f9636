/* Communicators that live for a few collectives, by the library underneath (PMPI) and with libunisono before it (MPI), in
 * turn. Argument: rounds. Prints "kind collectives without with": microseconds of a communicator, of the slowest rank,
 * one line for each round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOGETHER = 4, NONBLOCKING = 2, PERSISTENT = 3, REVERSED = 4, LIVES = 11 };
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
enum { KINDS = 5 };
#else
enum { KINDS = 3 };
#define MPI_Allreduce_init(...) MPI_ERR_OTHER
#endif

static const char *const kinds[] = {"dup", "reversed", "nonblocking", "persistent", "started"};
static const int lives[][LIVES] = {{1, 2, 5, 10, 20, 33, 65, 200, 257, 400, 800},
                                   {1, 2, 5, 10, 20, 33, 65, 200, 257, 400, 800},
                                   {1, 2, 5, 10, 50, 200, 1000, 4000, 4150, 8000, 16000},
                                   {1, 2, 5, 10, 50, 200, 1000, 2000, 4000, 8000, 16000},
                                   {1, 2, 5, 10, 50, 200, 1000, 2000, 4000, 8000, 16000}};
static char room[4096];

/* The library underneath, and what the program calls. */
static const struct way {
    int (*dup)(MPI_Comm, MPI_Comm *);
    int (*split)(MPI_Comm, int, int, MPI_Comm *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*iallreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    int (*ibcast)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
    int (*free)(MPI_Comm *);
} without = {PMPI_Comm_dup,   PMPI_Comm_split, PMPI_Allreduce, PMPI_Bcast,
             PMPI_Iallreduce, PMPI_Ibcast,     PMPI_Wait,      PMPI_Comm_free},
  with = {MPI_Comm_dup, MPI_Comm_split, MPI_Allreduce, MPI_Bcast, MPI_Iallreduce, MPI_Ibcast, MPI_Wait, MPI_Comm_free};

static void collective(const struct way *way, int kind, int number, MPI_Comm comm)
{
    MPI_Request request;
    int one = 1, sum;
    if (kind == NONBLOCKING && number % 2 == 0)
        way->iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    else if (kind == NONBLOCKING)
        way->ibcast(room, sizeof room, MPI_BYTE, 0, comm, &request);
    else if (number % 2 == 0)
        way->allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    else
        way->bcast(room, sizeof room, MPI_BYTE, 0, comm);
    if (kind == NONBLOCKING)
        way->wait(&request, MPI_STATUS_IGNORE);
}

/* One persistent collective, started so many times. */
static void persistent(int starts, MPI_Comm comm)
{
    MPI_Request request;
    int one = 1, sum;
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < starts; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

static double seconds(const struct way *way, int kind, int collectives)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    for (int k = 0; k < TOGETHER; k++) {
        MPI_Comm comm;
        if (kind == 1 || kind == REVERSED)
            way->split(MPI_COMM_WORLD, 0, -rank, &comm);
        else
            way->dup(MPI_COMM_WORLD, &comm);
        if (kind >= PERSISTENT)
            persistent(collectives, comm);
        for (int i = 0; kind < PERSISTENT && i < collectives; i++)
            collective(way, kind, i, comm);
        way->free(&comm);
    }
    return PMPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0, one = 1, sum; i < 100; i++) /* the world has what it wants */
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int round = 0; round < rounds; round++)
        for (int turn_of = 0; turn_of < LIVES; turn_of++)
            for (int kind = 0; kind < KINDS; kind++) {
                /* In another order each round, as what follows a long life finds colder caches; LIVES is prime. */
                int life = (turn_of * (1 + round % (LIVES - 1)) + round) % LIVES;
                double mine[2], most[2];
                /* The first communicator of its kind after a while takes longer, by either way. */
                seconds(&without, kind, 1);
                seconds(&with, kind, 1);
                for (int turn = 0; turn < 2; turn++) {
                    int which = (round + turn) % 2;
                    mine[which] = seconds(which ? &with : &without, kind, lives[kind][life]);
                }
                PMPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
                if (rank == 0)
                    printf("%s %d %.3f %.3f\n", kinds[kind], lives[kind][life], most[0] * 1e6 / TOGETHER,
                           most[1] * 1e6 / TOGETHER);
            }
    MPI_Finalize();
    return 0;
}
