/* Four ranks. Persistent sums of {0,1} and {2,3}, then of {0,3} and {1,2}, in which a rank may have another number than before. What was
 * made for the first pairs must not serve the others. */
#include <mpi.h>
#include <stdio.h>

static int sum_on(MPI_Comm comm, int mine)
{
    int sum = -1;
    MPI_Request request;
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    return sum;
}

int main(int argc, char **argv)
{
    static const int first[2][4] = {{3, 3, 12, 12}, {9, 6, 6, 9}};
    int rank, wrong = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 4; round++) {
        MPI_Comm pair;
        /* Of the second pairs, 2 comes before 1 in every other round. */
        int across = round % 2, color = across ? rank == 0 || rank == 3 : rank / 2;
        int key = across && round > 1 && (rank == 1 || rank == 2) ? -rank : rank;
        MPI_Comm_split(MPI_COMM_WORLD, color, key, &pair);
        wrong += sum_on(pair, 1 << rank) != first[across][rank];
        MPI_Comm_free(&pair);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all == 0 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
