/* One rank gets no memory for a collective: `refused COLLECTIVE BYTES`, with no_scratch.c preloaded. Blocks (or vectors) are so
 * long, with gaps. Every rank prints "error" or "right", and "on" once a last reduction, of 4 bytes, is right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "any.h"

enum { ROUNDS = 8 }; /* the first two on a communicator are the MPI library's */

int main(int count, char **arguments)
{
    int rank, ranks, one = 1, all = 0, error = MPI_SUCCESS;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm = any_comm(arguments[1], MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    struct any any = {.comm = comm, .count = atoi(arguments[2]) / (int)sizeof(int), .gap = 1};
    for (any.round = 0; any.round < ROUNDS && error == MPI_SUCCESS; any.round++)
        error = any_run(arguments[1], &any);
    printf("%s\n", error == MPI_SUCCESS ? "right" : error > 0 ? "error" : error == ANY_WRONG ? "wrong" : "unknown");
    fflush(stdout);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all == ranks)
        puts("on");
    MPI_Finalize();
    return 0;
}
