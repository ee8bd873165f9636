/* What dispatch costs a call, in nanoseconds: run by benchmarks/dispatch_cost.py on two ranks, with UNISONO_RULES.
 *
 * One line of JSON: `choosing`: from the arguments to the choice, for each message size; `left`: the same of a collective that no
 * rule names; `mpi`, `dispatched`: an allreduce of 8 bytes straight from the library, and after being routed to it. Blocks of both
 * take turns; medians over blocks. */
#include <stdio.h>
#include <stdlib.h>

#include "dispatch.h"
#include "serve.h"

enum { BLOCKS = 201, CALLS = 200, SIZES = 5 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, BLOCKS, sizeof *values, compare);
    return values[BLOCKS / 2] * 1e9 / CALLS;
}

/* A call that is the library's, up to there. */
static double choosing_mpi(bool (*serves)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm *, int *),
                           int count)
{
    double values[BLOCKS];
    static double data[2];
    int error, wrong = 0;
    for (int block = 0; block < BLOCKS; block++) {
        double start = PMPI_Wtime();
        for (int i = 0; i < CALLS; i++) {
            MPI_Comm comm = MPI_COMM_WORLD;
            wrong += serves(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, &comm, &error);
        }
        values[block] = PMPI_Wtime() - start;
    }
    return wrong == 0 ? median(values) : -1;
}

/* A call that is one of ours, up to there. */
static double choosing_ours(int64_t bytes)
{
    double values[BLOCKS];
    struct comm_state *state = comm_state_now(MPI_COMM_WORLD);
    struct call call = {.collective = COLL_BCAST, .bytes = bytes};
    int ours = 0;
    for (int block = 0; block < BLOCKS; block++) {
        double start = PMPI_Wtime();
        for (int i = 0; i < CALLS; i++) {
            MPI_Comm comm = MPI_COMM_WORLD;
            struct layout layout;
            ours += comm_state_find(comm, COLL_BCAST) == state && types_layout(MPI_DOUBLE, &layout) &&
                    serve_choose(state, &call, true, &comm) != NULL;
        }
        values[block] = PMPI_Wtime() - start;
    }
    return ours == BLOCKS * CALLS ? median(values) : -1;
}

static double calling(bool dispatched)
{
    double in = 1, out;
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        MPI_Comm comm = MPI_COMM_WORLD;
        int error;
        if (!(dispatched && dispatch_active && dispatch_allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, &comm, &error)))
            PMPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
    return PMPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    static const int64_t sizes[SIZES] = {8, 512, 4096, 65536, 1 << 20};
    double values[2][BLOCKS], found[2][SIZES];
    int rank;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    dispatch_start();
    if (!dispatch_active) {
        fprintf(stderr, "dispatch_cost: UNISONO_RULES is not set\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < SIZES; i++) {
        found[0][i] = choosing_mpi(dispatch_allreduce, (int)(sizes[i] / 8));
        found[1][i] = choosing_ours(sizes[i]);
    }
    const double left = choosing_mpi(dispatch_scan, 1);
    for (int block = 0; block < BLOCKS; block++)
        for (int k = 0; k < 2; k++)
            values[(block + k) % 2][block] = calling((block + k) % 2);
    if (rank == 0) {
        printf("{\"mpi\": %.1f, \"dispatched\": %.1f, \"left\": %.1f, \"choosing\": {", median(values[0]),
               median(values[1]), left);
        for (int i = 0; i < SIZES; i++)
            printf("%s\"%lld\": [%.1f, %.1f]", i > 0 ? ", " : "", (long long)sizes[i], found[0][i], found[1][i]);
        printf("}}\n");
    }
    dispatch_finish();
    PMPI_Finalize();
    return 0;
}
