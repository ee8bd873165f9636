/* Argument: numbers of elements. Reduces, allreduces and scatters the reductions of so many floats, whose sum depends on the order,
 * again and again, with ranks that come late by chance. A line for each collective and number of elements: "same", or "differs". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

enum { TIMES = 10, LATEST = 1000 }; /* microseconds */

static int rank, ranks;

static void call(int which, const float *in, float *out, int count)
{
    switch (which) {
    case 0: MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, ranks / 2, MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    default: MPI_Reduce_scatter_block(in, out, count / ranks, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* How many times this rank had another result than the first time. */
static int differing(int which, const float *in, float *out, float *first, int count)
{
    int differs = 0;
    for (int i = 0; i < TIMES; i++) {
        memset(out, 0, (size_t)count * sizeof *out);
        PMPI_Barrier(MPI_COMM_WORLD);
        usleep((useconds_t)(rand() % LATEST));
        call(which, in, out, count);
        if (i == 0)
            memcpy(first, out, (size_t)count * sizeof *out);
        differs += memcmp(first, out, (size_t)count * sizeof *out) != 0;
    }
    return differs;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"reduce", "allreduce", "reduce_scatter_block"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    srand((unsigned)rank + 1);
    for (int i = 1; i < argc; i++) {
        const int count = atoi(argv[i]);
        float *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out),
              *first = malloc((size_t)count * sizeof *first);
        for (int j = 0; j < count; j++)
            in[j] = (float)(1 + rand() % 1000) / (float)(1 + rand() % 1000);
        for (int which = 0; which < 3; which++) {
            int all, differs = differing(which, in, out, first, count);
            PMPI_Allreduce(&differs, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            if (rank == 0)
                printf("%s %d %s\n", names[which], count, all ? "differs" : "same");
        }
        free(in), free(out), free(first);
    }
    return MPI_Finalize();
}
