/* Rank 1 has its data on a device, the others in the host's memory. "start": from the beginning; "late PATH": from the
 * fourth round on, when the driver at PATH is loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { ROUNDS = 40, HOST_ROUNDS = 3, COUNT = 1000 };

void device_open(int open);
void *device_allocate(size_t bytes);

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, late = argc > 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t bytes = COUNT * sizeof(int);
    int *mine = malloc(bytes), *sum = malloc(bytes);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == (late ? HOST_ROUNDS : 0) && rank == 1) {
            if (late && dlopen(argv[2], RTLD_NOW) == NULL)
                return 3;
            mine = device_allocate(bytes), sum = device_allocate(bytes);
        }
        device_open(1);
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank + i + round;
        device_open(0);
        MPI_Allreduce(mine, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(mine, COUNT, MPI_INT, round % ranks, MPI_COMM_WORLD);
        device_open(1);
        for (int i = 0; i < COUNT; i++) {
            wrong |= sum[i] != ranks * (ranks - 1) / 2 + ranks * (i + round) || mine[i] != round % ranks + i + round;
            sum[i] = -1;
        }
        device_open(0);
        MPI_Alltoall(mine, COUNT / ranks, MPI_INT, sum, COUNT / ranks, MPI_INT, MPI_COMM_WORLD);
        device_open(1);
        wrong |= sum[0] != mine[COUNT / ranks * rank] || sum[COUNT / ranks] != mine[COUNT / ranks * rank];
        device_open(0);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
