/* Broadcasts, reductions or exchanges of 4 MiB, from memory with gaps or without, for which one rank may lack memory: every
 * rank prints "error" or "right", and "on" once a last reduction, of 4 bytes, is right. Before an exchange other communicators
 * use up what the node may share.
 *
 *     lacking bcast | allreduce | alltoall | reduce_scatter (in place) | gatherv | scatterv */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20, OTHERS = 8, RANKS = 8, SERVED_FROM = 3 /* with UNISONO_PATIENCE=0 */ };

static MPI_Comm last_of_many(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int out[RANKS] = {0}, in[RANKS];
    for (int i = 0; i < OTHERS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int call = 1; call <= (i < OTHERS - 1 ? SERVED_FROM : SERVED_FROM - 1); call++)
            MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    }
    return comm;
}

/* To or from rank 0, whose blocks have no gaps. */
static int exchange_with_root(int gathers, int rank, int ranks, int *data, int *wrong)
{
    int counts[RANKS], at[RANKS], each = COUNT / ranks, *all = malloc(COUNT * sizeof *all), error;
    MPI_Datatype gap;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
    MPI_Type_commit(&gap);
    for (int i = 0; i < ranks; i++)
        counts[i] = each, at[i] = i * each;
    for (int i = 0; i < COUNT; i++)
        all[i] = gathers ? -1 : i;
    for (int i = 0; i < each; i++)
        data[2 * i] = gathers ? rank * each + i : -1;
    if (gathers)
        error = MPI_Gatherv(data, each, gap, all, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
    else
        error = MPI_Scatterv(all, counts, at, MPI_INT, data, each, gap, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && gathers && rank == 0; i++)
        *wrong += all[i] != i;
    for (int i = 0; i < each && !gathers; i++)
        *wrong += data[2 * i] != rank * each + i;
    MPI_Type_free(&gap);
    free(all);
    return error;
}

static int scatter_sum(int rank, int ranks, int *data, int *wrong)
{
    int counts[RANKS], each = COUNT / ranks;
    for (int i = 0; i < ranks; i++)
        counts[i] = each;
    for (int i = 0; i < COUNT; i++)
        data[i] = i % 1000 + rank;
    int error = MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < each; i++)
        *wrong += data[i] != ranks * ((rank * each + i) % 1000) + ranks * (ranks - 1) / 2;
    return error;
}

int main(int count, char **arguments)
{
    int rank, ranks, one = 1, all = 0, error, wrong = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int *data = malloc(2 * COUNT * sizeof *data), *sum = malloc(COUNT * sizeof *sum);
    for (int i = 0; i < 2 * COUNT; i++)
        data[i] = rank == 0 || strcmp(arguments[1], "alltoall") == 0 ? i : -1;
    if (strcmp(arguments[1], "bcast") == 0) {
        MPI_Datatype gaps;
        MPI_Type_vector(COUNT, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        error = MPI_Bcast(data, 1, gaps, 0, MPI_COMM_WORLD);
        MPI_Type_free(&gaps);
        for (int i = 0; i < 2 * COUNT; i += 2)
            wrong += data[i] != i;
    } else if (strcmp(arguments[1], "alltoall") == 0) {
        MPI_Datatype gap, gaps;
        int *blocks = calloc((size_t)COUNT * 2, sizeof *blocks);
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
        MPI_Type_contiguous(COUNT / ranks, gap, &gaps);
        MPI_Type_commit(&gaps);
        error = MPI_Alltoall(data, 1, gaps, blocks, 1, gaps, last_of_many());
        for (int i = 0; i < COUNT / ranks; i++)
            wrong += blocks[2 * i] != 2 * (rank * (COUNT / ranks) + i);
        free(blocks);
    } else if (strcmp(arguments[1], "reduce_scatter") == 0) {
        error = scatter_sum(rank, ranks, data, &wrong);
    } else if (strcmp(arguments[1], "allreduce") != 0) {
        error = exchange_with_root(strcmp(arguments[1], "gatherv") == 0, rank, ranks, data, &wrong);
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
