/* Broadcasts of many sizes, three of each; "right" by every rank that got what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments)
{
    int rank, wrong = 0;
    const int most = 1 << 21;
    char *data = malloc((size_t)most);
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bytes = 8; bytes <= most; bytes *= 4)
        for (int round = 0; round < 3; round++) {
            memset(data, rank == 0 ? round + 1 : 0, (size_t)bytes);
            MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            for (int i = 0; i < bytes; i++)
                wrong += data[i] != round + 1;
        }
    puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    free(data);
    return 0;
}
