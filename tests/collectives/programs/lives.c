/* Communicators that come and go: argument 1 of them with one call each, some with five, and more of those at a
 * time than there are private communicators for. Prints by how many KiB the process has grown over the last nine tenths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { SERVED = 60, KEPT = 270, CALLS = 5 };

static long resident(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %ld", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

static void work(MPI_Comm comm, int calls)
{
    for (int i = 0; i < calls; i++) {
        int one = 1, sum = 0, ranks;
        MPI_Comm_size(comm, &ranks);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != ranks)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

static void come_and_go(int times, int calls)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        work(copy, calls);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv)
{
    static MPI_Comm kept[KEPT];
    int rank, times = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work(MPI_COMM_WORLD, 3);
    come_and_go(times / 10, 1);
    come_and_go(SERVED / 10, CALLS);
    long before = resident();
    come_and_go(times - times / 10, 1);
    come_and_go(SERVED - SERVED / 10, CALLS);
    if (rank == 0)
        printf("%ld\n", resident() - before);
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
    for (int i = 0; i < KEPT; i++)
        work(kept[i], CALLS);
    for (int i = 0; i < KEPT / 2; i++) /* the others are left to MPI_Finalize */
        MPI_Comm_free(&kept[i]);
    work(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
