/* One rank gets no memory for a collective: `refused COLLECTIVE BYTES`, with no_scratch.c preloaded. Blocks (or vectors) are so
 * long, with gaps. Every rank prints "error" or "right", and "on" once a last reduction, of 4 bytes, is right. For nonblocking
 * ones it gets none at all, however little, from when the library has set itself up for them; "not served" where it does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "any.h"

enum {
    ROUNDS = 8,               /* the first two on a communicator are the MPI library's */
    ROUNDS_UNBLOCKED = 10000, /* more than what the library has put by is enough for */
};

/* Of the library and of no_scratch.c, where they are preloaded. */
extern int unisono_applies(MPI_Comm, const char *, long long, int) __attribute__((weak));
extern void no_scratch_from(size_t) __attribute__((weak));

int main(int count, char **arguments)
{
    int rank, ranks, one = 1, all = 0, error = MPI_SUCCESS;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm = any_comm(arguments[1], MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    struct any any = {.comm = comm, .count = atoi(arguments[2]) / (int)sizeof(int), .gap = 1};
    const int blocks = any_blocking(arguments[1]) == arguments[1], rounds = blocks ? ROUNDS : ROUNDS_UNBLOCKED;
    if (!blocks && &unisono_applies != NULL) {
        if (!unisono_applies(comm, arguments[1], any_bytes(arguments[1], &any), sizeof(int)))
            puts("not served");
        no_scratch_from(1);
    }
    for (any.round = 0; any.round < rounds && error == MPI_SUCCESS; any.round++)
        error = any_run(arguments[1], &any);
    printf("%s\n", error == MPI_SUCCESS ? "right" : error > 0 ? "error" : error == ANY_WRONG ? "wrong" : "unknown");
    fflush(stdout);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all == ranks)
        puts("on");
    MPI_Finalize();
    return 0;
}
