/* Broadcasts or reductions of 4 MiB, from memory with gaps or without, for which one rank may lack memory: every rank prints
 * "error" or "right", and "on" once a last one, of 4 bytes, is right.
 *
 *     lacking bcast | allreduce */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20 };

int main(int count, char **arguments)
{
    int rank, ranks, one = 1, all = 0, error, wrong = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int *data = malloc(2 * COUNT * sizeof *data), *sum = malloc(COUNT * sizeof *sum);
    for (int i = 0; i < 2 * COUNT; i++)
        data[i] = rank == 0 ? i : -1;
    if (strcmp(arguments[1], "bcast") == 0) {
        MPI_Datatype gaps;
        MPI_Type_vector(COUNT, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        error = MPI_Bcast(data, 1, gaps, 0, MPI_COMM_WORLD);
        MPI_Type_free(&gaps);
        for (int i = 0; i < 2 * COUNT; i += 2)
            wrong += data[i] != i;
    } else {
        error = MPI_Allreduce(data, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++)
            wrong += sum[i] != i - (ranks - 1);
    }
    puts(error != MPI_SUCCESS ? "error" : wrong ? "wrong" : "right");
    error = MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (error == MPI_SUCCESS && all == ranks)
        puts("on");
    MPI_Finalize();
    free(data);
    free(sum);
    return 0;
}
