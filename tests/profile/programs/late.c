/* A late sender of a blocking and of a nonblocking receive, and a late receiver, each 20 ms and five times; on a copy of
 * MPI_COMM_WORLD with the tags and ranks that MPI_COMM_WORLD's messages have. Some rounds receive from any source and with
 * any tag, some by persistent requests; one receive is cancelled. With an argument, a request that is freed under way
 * closes the log of the receiver's messages. */
#include "stamp.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

/* Two messages of 8 numbers: tag 5 into the first, tag 4 into the second. */
static void receive(double *buffer, MPI_Comm comm, int round, MPI_Request *kept)
{
    MPI_Request requests[2];
    int place, done, places[2];
    if (round >= 3) {
        MPI_Startall(2, kept);
        stamp("Waitany");
        MPI_Waitany(2, kept, &place, MPI_STATUS_IGNORE);
        MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Irecv(buffer, 8, MPI_DOUBLE, round == 1 ? MPI_ANY_SOURCE : 0, 5, comm, requests);
    MPI_Irecv(buffer + 8, 8, MPI_DOUBLE, 0, round == 1 ? MPI_ANY_TAG : 4, comm, requests + 1);
    if (round != 2) {
        stamp("Waitall");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        return;
    }
    stamp("Waitsome");
    MPI_Waitsome(2, requests, &done, places, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

enum { LARGE = 1 << 20, LATE = 20000, ROUNDS = 5 };

int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    double *buffer = calloc(LARGE, sizeof *buffer);
    MPI_Request requests[2], kept[2];
    MPI_Status statuses[2];
    MPI_Recv_init(buffer, 8, MPI_DOUBLE, 0, 5, copy, kept);
    MPI_Recv_init(buffer + 8, 8, MPI_DOUBLE, 0, 4, copy, kept + 1);
    for (int round = 0; round < ROUNDS && rank < 2; round++) {
        if (rank == 0) {
            MPI_Recv(buffer, 0, MPI_DOUBLE, 1, 1, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            stamp("Recv");
            MPI_Send(buffer, 8, MPI_DOUBLE, 1, 3, copy);
            stamp("Ssend");
            MPI_Ssend(buffer, LARGE, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
            MPI_Recv(buffer, 0, MPI_DOUBLE, 1, 1, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            stamp(round >= 3 ? "Waitany" : round == 2 ? "Waitsome" : "Waitall");
            MPI_Isend(buffer, 8, MPI_DOUBLE, 1, 4, copy, requests);
            MPI_Isend(buffer, 8, MPI_DOUBLE, 1, 5, copy, requests + 1);
            MPI_Waitall(2, requests, statuses);
        } else {
            MPI_Send(buffer, 0, MPI_DOUBLE, 0, 1, copy);
            stamp("Recv");
            MPI_Recv(buffer, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
            usleep(LATE);
            stamp("Ssend");
            MPI_Recv(buffer, LARGE, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (count > 1) {
                MPI_Isend(buffer, 0, MPI_DOUBLE, 0, 1, copy, requests);
                MPI_Request_free(requests);
            } else {
                MPI_Send(buffer, 0, MPI_DOUBLE, 0, 1, copy);
            }
            if (round == 0) {
                MPI_Irecv(buffer, 8, MPI_DOUBLE, 0, 7, copy, requests);
                MPI_Cancel(requests);
                MPI_Wait(requests, MPI_STATUS_IGNORE);
            }
            receive(buffer, copy, round, kept);
        }
    }
    MPI_Request_free(kept);
    MPI_Request_free(kept + 1);
    MPI_Finalize();
    return rank >= 2 || stamps_written(rank) ? 0 : 2;
}
