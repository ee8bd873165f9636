/* Broadcasts and sums of many sizes up to what the argument says (2 MiB), three of each; "right" by every rank that got what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments)
{
    int rank, ranks, wrong = 0;
    const size_t most = count > 1 ? (size_t)atol(arguments[1]) : 1 << 21;
    signed char *data = malloc(most);
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t bytes = 8; bytes <= most; bytes *= 4)
        for (int round = 0; round < 3; round++) {
            memset(data, rank == 0 ? round + 1 : 0, bytes);
            MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            for (size_t i = 0; i < bytes; i++)
                wrong += data[i] != round + 1;
            memset(data, 1, bytes);
            MPI_Allreduce(MPI_IN_PLACE, data, (int)bytes, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
            for (size_t i = 0; i < bytes; i++)
                wrong += data[i] != ranks;
        }
    puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    free(data);
    return 0;
}
