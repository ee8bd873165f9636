/* A program of nonblocking and persistent collectives: docs/nonblocking-collectives.md shows what serves its calls. */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 1000, BLOCK = 512 };

int main(int argc, char **argv)
{
    int rank, ranks;
    double mine = 1, sum = 0;
    static char block[BLOCK];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < STEPS; step++) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibcast(block, BLOCK, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("%d ranks, sum %g\n", ranks, sum);
    MPI_Finalize();
    return sum == ranks ? 0 : 1;
}
