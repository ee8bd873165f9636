/* Calls that a tool counts: of each rank 10 allreduces, 6 bcasts, one communicator, phases; rank 0 sends 4 messages. With
 * an argument also 3 allreduces that go past every tool. */
#include <stdio.h>

#include <mpi.h>

enum { COUNT = 500 };

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, any = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Pcontrol(3, "solve");
    for (int call = 0; call < 9; call++) {
        int mine[COUNT], sum[COUNT];
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank + i + call;
        MPI_Allreduce(mine, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++)
            wrong |= sum[i] != ranks * (ranks - 1) / 2 + ranks * (i + call);
    }
    MPI_Pcontrol(3, "");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 6; call++) {
        int value = rank == call % ranks ? call : -1;
        MPI_Bcast(&value, 1, MPI_INT, call % ranks, comm);
        wrong |= value != call;
    }
    for (int call = 0; call < 4 && rank < 2; call++) {
        int value = call;
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 0, comm);
        else
            MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        wrong |= value != call;
    }
    for (int call = 0; call < 3 && argc > 1; call++) {
        int sum = 0;
        PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sum != ranks * (ranks - 1) / 2;
    }
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, comm);
    if (rank == 0)
        puts(any ? "wrong" : "right");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
