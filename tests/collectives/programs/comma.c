/* A program whose locale, set before MPI_Init, has a decimal comma. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, sum = 0, one = 1;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL || strtod("0,5", NULL) != 0.5)
        return 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(sum == 2 && strtod("0,5", NULL) == 0.5 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
