/* Alltoalls of blocks from 1 B to some KiB, three of each: every byte must be the one that its sender meant for this rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char meant(int from, int to, int at)
{
    return (unsigned char)(from * 31 + to * 7 + at * 3);
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int bytes = 1; bytes < 4000; bytes = bytes * 3 / 2 + 1) {
        unsigned char *send = malloc((size_t)(bytes * ranks)), *receive = calloc((size_t)ranks, (size_t)bytes);
        for (int i = 0; i < bytes * ranks; i++)
            send[i] = meant(rank, i / bytes, i % bytes);
        for (int call = 0; call < 3; call++)
            MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
        for (int i = 0; i < bytes * ranks; i++)
            wrong += receive[i] != meant(i / bytes, rank, i % bytes);
        free(send);
        free(receive);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", wrong == 0 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
