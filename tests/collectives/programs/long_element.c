/* Rank 0 sends rank 1 one element that has more bytes than an int can count, and gaps: of 2,050 rows 1 MiB each, with 64 B between. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2050, COLUMNS = 1 << 17, GAP = 8 };

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    const int whole[2] = {ROWS, COLUMNS + GAP}, part[2] = {ROWS, COLUMNS}, start[2] = {0, 0};
    const size_t row = COLUMNS + GAP;
    MPI_Datatype matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &matrix);
    MPI_Type_commit(&matrix);
    double *data = calloc(ROWS * row, sizeof *data);
    for (size_t i = 0; rank == 0 && i < ROWS * row; i++)
        data[i] = (double)i;
    const int none[2] = {0, 0}, sends[2] = {0, rank == 0}, receives[2] = {rank == 1, 0};
    const MPI_Datatype types[2] = {matrix, matrix};
    if (strcmp(argv[1], "alltoallw") == 0)
        MPI_Alltoallw(data, sends, none, types, rank == 0 ? &wrong : (void *)data, receives, none, types,
                      MPI_COMM_WORLD);
    else if (strcmp(argv[1], "scatterv") == 0)
        MPI_Scatterv(data, (int[2]){0, 1}, none, matrix, data, rank == 1, matrix, 0, MPI_COMM_WORLD);
    else
        MPI_Gatherv(data, rank == 0, matrix, data, (int[2]){1, 0}, none, matrix, 1, MPI_COMM_WORLD);
    for (size_t i = 0; rank == 1 && i < ROWS * row; i++)
        wrong += data[i] != (i % row < COLUMNS ? (double)i : 0);
    if (rank == 1)
        printf("%s\n", wrong == 0 ? "right" : "wrong");
    MPI_Type_free(&matrix);
    free(data);
    MPI_Finalize();
    return 0;
}
