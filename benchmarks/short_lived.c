/* Communicators that live for a few collectives, by the library underneath (PMPI) and with libunisono before it (MPI), in
 * turn. Argument: rounds. Prints "kind collectives without with": microseconds of a communicator, of the slowest rank,
 * one line for each round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOGETHER = 4, KINDS = 2 };

static const int lives[] = {1, 2, 5, 10, 20, 33, 50, 65, 100, 200, 400};
static const char *const kinds[KINDS] = {"dup", "reversed"};
static char room[4096];

/* The library underneath, and what the program calls. */
static const struct way {
    int (*dup)(MPI_Comm, MPI_Comm *);
    int (*split)(MPI_Comm, int, int, MPI_Comm *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*free)(MPI_Comm *);
} without = {PMPI_Comm_dup, PMPI_Comm_split, PMPI_Allreduce, PMPI_Bcast, PMPI_Comm_free},
  with = {MPI_Comm_dup, MPI_Comm_split, MPI_Allreduce, MPI_Bcast, MPI_Comm_free};

static double seconds(const struct way *way, int kind, int collectives)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    for (int k = 0; k < TOGETHER; k++) {
        MPI_Comm comm;
        if (kind == 0)
            way->dup(MPI_COMM_WORLD, &comm);
        else
            way->split(MPI_COMM_WORLD, 0, -rank, &comm);
        for (int i = 0, one = 1, sum; i < collectives; i++)
            if (i % 2 == 0)
                way->allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
            else
                way->bcast(room, sizeof room, MPI_BYTE, 0, comm);
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
        for (size_t life = 0; life < sizeof lives / sizeof *lives; life++)
            for (int kind = 0; kind < KINDS; kind++) {
                double mine[2], most[2];
                for (int turn = 0; turn < 2; turn++) {
                    int which = (round + turn) % 2;
                    mine[which] = seconds(which ? &with : &without, kind, lives[life]);
                }
                PMPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
                if (rank == 0)
                    printf("%s %d %.3f %.3f\n", kinds[kind], lives[life], most[0] * 1e6 / TOGETHER,
                           most[1] * 1e6 / TOGETHER);
            }
    MPI_Finalize();
    return 0;
}
