/* A program whose sums are on their way while it computes. First word: how many; second: how long it computes. */
#include <mpi.h>
#include <stdlib.h>

static volatile double kept;

static void compute(int steps)
{
    double sum = 0;
    for (int i = 0; i < steps; i++)
        sum += i * 1e-9;
    kept = sum;
}

static void dot(int steps)
{
    double in[8] = {1}, out[8];
    MPI_Request request;
    MPI_Iallreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    compute(steps);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    int sums = count > 1 ? atoi(words[1]) : 1000, steps = count > 2 ? atoi(words[2]) : 0;
    for (int i = 0; i < sums; i++)
        dot(steps);
    MPI_Finalize();
    return 0;
}
