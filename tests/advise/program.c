/* A small application: broadcasts, and says how long they took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int bytes = 1 << 18;
    char *buffer = calloc((size_t)bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < 5; ++i)
        MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf(" Time in seconds = %24.9f\n", MPI_Wtime() - start);
    free(buffer);
    MPI_Finalize();
    return 0;
}
