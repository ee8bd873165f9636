/* A small application that calls a collective under conditions no benchmark has unless told to.

   cold: between two calls it works on more memory than the last-level cache holds.
   late: the last rank comes to every call some milliseconds after the others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST = 3, CALLS = 13, BYTES = 65536, LATE = 40000000 /* ns */ };

static volatile long sink;

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int cold = argc > 1 && strcmp(argv[1], "cold") == 0;
    int late = argc > 1 && strcmp(argv[1], "late") == 0;
    size_t size = cold ? strtoull(argv[2], NULL, 10) : 1;
    char *work = malloc(size), *send = calloc((size_t)ranks, BYTES), *receive = calloc((size_t)ranks, BYTES);
    memset(work, 1, size);
    for (int call = 0; call < CALLS; call++) {
        if (call == FIRST)
            MPI_Pcontrol(2); /* forgets calls that set up connections */
        for (size_t at = 0; cold && at < size; at += 64)
            sink += work[at];
        struct timespec pause = {0, LATE};
        if (late && rank == ranks - 1)
            nanosleep(&pause, NULL);
        if (cold)
            MPI_Alltoall(send, 8, MPI_BYTE, receive, 8, MPI_BYTE, MPI_COMM_WORLD);
        else
            MPI_Alltoall(send, BYTES, MPI_BYTE, receive, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    }
    free(work);
    free(send);
    free(receive);
    MPI_Finalize();
    return 0;
}
