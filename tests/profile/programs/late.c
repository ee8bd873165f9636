/* A late sender of a blocking and of a nonblocking receive, and a late receiver, each 20 ms and five times; on a copy of
 * MPI_COMM_WORLD with the tags and ranks that MPI_COMM_WORLD's messages have. With an argument, a receive from any source
 * closes the log of the receiver's messages. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 20, LATE = 20000, ROUNDS = 5 };

int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    double *buffer = calloc(LARGE, sizeof *buffer);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int round = 0; round < ROUNDS && rank < 2; round++) {
        if (rank == 0) {
            MPI_Recv(buffer, 0, MPI_DOUBLE, 1, 1, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            MPI_Send(buffer, 8, MPI_DOUBLE, 1, 3, copy);
            MPI_Ssend(buffer, LARGE, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
            MPI_Recv(buffer, 0, MPI_DOUBLE, 1, 1, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            MPI_Isend(buffer, 8, MPI_DOUBLE, 1, 4, copy, requests);
            MPI_Isend(buffer, 8, MPI_DOUBLE, 1, 5, copy, requests + 1);
            MPI_Waitall(2, requests, statuses);
        } else {
            MPI_Send(buffer, 0, MPI_DOUBLE, 0, 1, copy);
            MPI_Recv(buffer, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            MPI_Recv(buffer, LARGE, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, 0, MPI_DOUBLE, 0, 1, copy);
            MPI_Irecv(buffer, 8, MPI_DOUBLE, count > 1 ? MPI_ANY_SOURCE : 0, 5, copy, requests);
            MPI_Irecv(buffer + 8, 8, MPI_DOUBLE, 0, 4, copy, requests + 1);
            MPI_Waitall(2, requests, statuses);
        }
    }
    MPI_Finalize();
    return 0;
}
