/* Persistent collectives, started and completed in several ways: "right" at the end, "none" where the MPI has none. */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

enum { ALONE = 300, TOGETHER = 200, BLOCK = 64 };

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, done;
    double mine = 1, sum = 0;
    static char block[BLOCK];
    MPI_Request sums, both[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sums);
    MPI_Bcast_init(block, BLOCK, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    for (int i = 0; i < ALONE; i++) {
        mine = i;
        MPI_Start(&sums);
        if (i % 2 == 0)
            MPI_Wait(&sums, MPI_STATUS_IGNORE);
        else
            do
                MPI_Test(&sums, &done, MPI_STATUS_IGNORE);
            while (!done);
        wrong += sum < i * ranks || sum > i * ranks;
    }
    for (int i = 0; i < TOGETHER; i++) {
        block[BLOCK - 1] = (char)(rank == 0 ? i % 100 : -1);
        MPI_Startall(2, both);
        if (i % 2 == 0) {
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        } else {
            MPI_Waitany(2, both, &done, MPI_STATUS_IGNORE);
            MPI_Waitany(2, both, &done, MPI_STATUS_IGNORE);
        }
        wrong += block[BLOCK - 1] != i % 100;
    }
    MPI_Request_free(&sums);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return wrong != 0;
}

#else

int main(void)
{
    puts("none");
    return 0;
}

#endif
