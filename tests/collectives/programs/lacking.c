/* Broadcasts, reductions or exchanges of 4 MiB, from memory with gaps or without, for which one rank may lack memory: every
 * rank prints "error" or "right", and "on" once a last reduction, of 4 bytes, is right. Before an exchange other communicators
 * use up what the node may share.
 *
 *     lacking bcast | allreduce | alltoall */
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
