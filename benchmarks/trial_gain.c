/* Collectives of a program on MPI_COMM_WORLD. Prints "collective bytes seconds" of each, once a turn: the mean of a row of
 * calls, of the slowest rank. Argument: turns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20 };

static const int sizes[] = {8, 64, 1024, 4096, 16384, 65536, 262144, 1 << 20, MOST};
static const char *const names[] = {"bcast", "allreduce", "alltoall", "allgather"};
enum { SIZES = sizeof sizes / sizeof *sizes, COLLECTIVES = sizeof names / sizeof *names };

static char *out, *in;

static void call(int collective, int bytes)
{
    if (collective == 0)
        MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (collective == 1)
        MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (collective == 2)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int count, char **arguments)
{
    int rank, ranks, turns = count > 1 ? atoi(arguments[1]) : 3;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t room = (size_t)MOST * (size_t)ranks;
    out = malloc(room);
    in = malloc(room);
    memset(out, 0, room);
    memset(in, 0, room);
    for (int turn = -1; turn < turns; turn++) /* the first is not counted */
        for (int collective = 0; collective < COLLECTIVES; collective++)
            for (int size = 0; size < SIZES; size++) {
                int bytes = sizes[size], calls = bytes <= 4096 ? 800 : bytes <= 65536 ? 200 : bytes < MOST ? 40 : 8;
                double slowest, start;
                PMPI_Barrier(MPI_COMM_WORLD);
                start = PMPI_Wtime();
                for (int i = 0; i < calls; i++)
                    call(collective, bytes);
                double mine = (PMPI_Wtime() - start) / calls;
                PMPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
                if (rank == 0 && turn >= 0)
                    printf("%s %d %.4g\n", names[collective], bytes, slowest);
            }
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
