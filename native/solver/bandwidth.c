#include "bandwidth.h"

#include <stdint.h>
#include <stdlib.h>

#include "pages.h"

enum { REPETITIONS = 10 };

static double triad(double *restrict a, const double *restrict b, const double *restrict c, int64_t count, int threads)
{
    double begun = MPI_Wtime();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < count; i++)
        a[i] = b[i] + 3.0 * c[i];
    return MPI_Wtime() - begun;
}

double bandwidth_triad(MPI_Comm comm, int threads, double bytes)
{
    const int64_t count = (int64_t)(bytes / sizeof(double));
    double *memory[3], best = 0;
    int good = 1, all;
    for (int k = 0; k < 3; k++) {
        memory[k] = pages_take((size_t)count * sizeof(double));
        good = good && memory[k] != NULL;
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < count; i++)
            memory[0][i] = 0, memory[1][i] = 1, memory[2][i] = 2;
        for (int repetition = 0; repetition < REPETITIONS; repetition++) {
            MPI_Barrier(comm);
            double seconds = triad(memory[0], memory[1], memory[2], count, threads);
            double rate = 24.0 * (double)count / seconds, together;
            MPI_Allreduce(&rate, &together, 1, MPI_DOUBLE, MPI_SUM, comm);
            best = together > best ? together : best;
        }
    }
    for (int k = 0; k < 3; k++)
        free(memory[k]);
    return best;
}
