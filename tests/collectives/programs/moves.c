/* Two ranks, three in the last part. What the MPI library has under way goes on while a rank waits for a collective of ours:
 *   kept, copied   for a persistent one on the world, for a nonblocking one on a copy of it
 *   ahead          for one that blocks, while a message of ours to the rank that waits is there already */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 18, TIMES = 20 };

static int *from, *to, rank;

static void under_way(int collective, MPI_Request *request)
{
    if (collective) {
        MPI_Iallreduce(from, to, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
        if (rank == 0)
            MPI_Wait(request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Isend(from, LONG, MPI_INT, 0, 1, MPI_COMM_WORLD, request);
    } else {
        MPI_Recv(to, LONG, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void wait_for_ours(int kept)
{
    int one = 1, sum = 0;
    MPI_Comm copy;
    MPI_Request ours, theirs = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (kept)
        MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &ours);
    for (int i = 0; i < 2 * TIMES; i++) {
        under_way(i % 2, &theirs);
        if (kept)
            MPI_Start(&ours);
        else
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy, &ours);
        MPI_Wait(&ours, MPI_STATUS_IGNORE);
        MPI_Wait(&theirs, MPI_STATUS_IGNORE);
    }
    if (kept)
        MPI_Request_free(&ours);
    MPI_Comm_free(&copy);
}

/* Rank 1 waits for rank 2 in a reduce, and rank 2 for a sum of the MPI library's that rank 1 has to move; rank 0 is in the first alltoall
 * already, which begins with a message. */
static void run_ahead(void)
{
    int one = 1, sum, given[3] = {1, 2, 3}, taken[3];
    MPI_Request request;
    for (int i = 0; i < 5; i++) {
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Iallreduce(from, to, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0)
        usleep(200000);
    if (rank == 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank != 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    from = calloc(LONG, sizeof *from);
    to = calloc(LONG, sizeof *to);
    if (argc < 2 || from == NULL || to == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (strcmp(argv[1], "ahead") == 0)
        run_ahead();
    else
        wait_for_ours(strcmp(argv[1], "kept") == 0);
    if (rank == 0)
        puts("ended");
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
