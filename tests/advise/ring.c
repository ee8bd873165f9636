/* Ranks of a ring send 64 KiB to the next in every step, and 8 B back by a blocking call; they do little else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 8192 };

int main(int count, char **words)
{
    int rank, ranks, steps = count > 1 ? atoi(words[1]) : 200;
    static double out[COUNT], in[COUNT];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double begin = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(in, COUNT, MPI_DOUBLE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, COUNT, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Sendrecv(out, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 2, in, 1, MPI_DOUBLE, (rank + 1) % ranks, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        out[step % COUNT] = in[(step + 1) % COUNT] + 1;
    }
    if (rank == 0)
        printf("Time in seconds = %g\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
