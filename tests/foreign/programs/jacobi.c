/* Somebody's program: Jacobi's iteration on a ring of strips, with rows of a derived type, a bcast of the parameters and
 * an allreduce of the residual in every step. Options it does not know are ignored. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64, ROWS = 32, STEPS = 200 };

static double strip[ROWS + 2][COLUMNS], next[ROWS + 2][COLUMNS];

static void exchange(int up, int down, MPI_Datatype row)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Irecv(strip[0], 1, row, up, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(strip[ROWS + 1], 1, row, down, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(strip[1], 1, row, up, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(strip[ROWS], 1, row, down, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

static double relax(void)
{
    double change = 0;
    for (int i = 1; i <= ROWS; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j) {
            next[i][j] = 0.25 * (strip[i - 1][j] + strip[i + 1][j] + strip[i][j - 1] + strip[i][j + 1]);
            change += fabs(next[i][j] - strip[i][j]);
        }
    for (int i = 1; i <= ROWS; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j)
            strip[i][j] = next[i][j];
    return change;
}

int main(int argc, char **argv)
{
    int rank, size;
    double boundary = 0, all = 0, previous = INFINITY;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        boundary = 1;
    MPI_Bcast(&boundary, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROWS + 2; ++i)
        strip[i][0] = boundary;
    MPI_Datatype row;
    MPI_Type_contiguous(COLUMNS, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    double start = MPI_Wtime();
    for (int step = 0; step < STEPS; ++step) {
        exchange((rank + size - 1) % size, (rank + 1) % size, row);
        double change = relax();
        MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step > 0 && all > previous * (1 + 1e-12)) {
            fprintf(stderr, "jacobi: the residual grows\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        previous = all;
    }
    double seconds = MPI_Wtime() - start;
    if (rank == 0)
        printf("residual %.17g\nTime in seconds = %.9f\nTime = %.9f\n", all, seconds, seconds);
    MPI_Type_free(&row);
    MPI_Finalize();
    return 0;
}
