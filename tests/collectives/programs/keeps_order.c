/* Products of matrices, which do not commute, and sums, which do, by every blocking reduction: "right", or which is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "matrix.h"

enum { MATRICES = 12, CALLS = 6, NAMES = 6 };

static const char *const names[NAMES] = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
                                         "scan",   "exscan"};
static MPI_Op product;
static MPI_Datatype matrix;
static int rank, ranks;

static void add(void *in, void *inout, int count)
{
    for (int i = 0; i < SIDE * count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void call(int which, const int *in, int *out, const int *counts, int all, int root, MPI_Datatype type, MPI_Op op)
{
    switch (which) {
    case 0: MPI_Reduce(in, out, all, type, op, root, MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(in, out, all, type, op, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD); break;
    case 3: MPI_Reduce_scatter_block(in, out, counts[0], type, op, MPI_COMM_WORLD); break;
    case 4: MPI_Scan(in, out, all, type, op, MPI_COMM_WORLD); break;
    default: MPI_Exscan(in, out, all, type, op, MPI_COMM_WORLD);
    }
}

/* Whether this rank's part of it is right. */
static int try(int which, int commutes, int root)
{
    const int all = MATRICES * ranks, numbers = SIDE * all, own = which == 2 || which == 3 ? MATRICES : all;
    int *in = malloc(sizeof(int) * (size_t)numbers), *out = calloc((size_t)numbers, sizeof(int)), good = 1;
    int *of_all = malloc(sizeof(int) * (size_t)numbers * (size_t)ranks), *counts = malloc(sizeof(int) * (size_t)ranks);
    const int last = which == 4 ? rank : which == 5 ? rank - 1 : ranks - 1;
    for (int i = 0; i < numbers; i++)
        in[i] = (31 * rank + 17 * i + which) % 97;
    for (int i = 0; i < ranks; i++)
        counts[i] = commutes ? SIDE * MATRICES : MATRICES;
    PMPI_Allgather(in, numbers, MPI_INT, of_all, numbers, MPI_INT, MPI_COMM_WORLD);
    call(which, in, out, counts, commutes ? numbers : all, root, commutes ? MPI_INT : matrix,
         commutes ? MPI_SUM : product);
    if (last >= 0 && (which > 0 || rank == root)) {
        int *result = of_all + (size_t)numbers * (size_t)last, length = all;
        for (int from = last - 1; from >= 0; from--)
            commutes ? add(of_all + (size_t)numbers * (size_t)from, result, all)
                     : multiply(of_all + (size_t)numbers * (size_t)from, result, &length, &matrix);
        good = memcmp(out, result + (own < all ? SIDE * own * rank : 0), sizeof(int) * SIDE * (size_t)own) == 0;
    }
    free(in);
    free(out);
    free(of_all);
    free(counts);
    return good;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(multiply, 0, &product);
    MPI_Type_contiguous(SIDE, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    for (int which = 0; which < NAMES; which++)
        for (int i = 0; i < 2 * CALLS; i++) {
            int good = try(which, i % 2, i / 2 % ranks), all;
            PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
            if (!all && rank == 0)
                printf("%s %s ", names[which], i % 2 ? "sum" : "product");
            wrong += !all;
        }
    if (!wrong && rank == 0)
        printf("right\n");
    MPI_Type_free(&matrix);
    MPI_Op_free(&product);
    MPI_Finalize();
    return 0;
}
