/* MPI 4. A type whose part was made with large counts, and a buffered send that is under way when the program ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, given[32], taken[64], wrong = 0;
    MPI_Datatype part, whole;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 32; i++)
        given[i] = i + rank;
    MPI_Type_contiguous_c(4, MPI_INT, &part);
    MPI_Type_contiguous(4, part, &whole);
    MPI_Type_commit(&whole);
    MPI_Allgather(given, 2, whole, taken, 2, whole, MPI_COMM_WORLD);
    for (int i = 0; i < 32; i++)
        wrong += taken[i] != i || taken[32 + i] != i + 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong == 0 ? "right" : "wrong");
    MPI_Type_free(&part);
    MPI_Type_free(&whole);
    char *data = calloc(BYTES, 1), *buffer = malloc(2 * BYTES);
    if (data == NULL || buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Buffer_attach(buffer, 2 * BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Bsend(data, BYTES, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) {
        usleep(300000);
        MPI_Recv(data, BYTES, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
