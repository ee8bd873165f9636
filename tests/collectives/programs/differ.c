/* A bcast and sums, in which ranks that are not alike would get wrong results or hang. With the argument "descriptors",
 * rank 1 has none left when MPI_Init returns; with "later", from then on. Prints `right` on every rank. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <mpi.h>

static const char *when = "";

static void use_up(int rank)
{
    struct rlimit few = {256, 256};
    if (rank != 1)
        return;
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDONLY) >= 0)
        continue;
}

/* What our library calls first: the program's own comes before the MPI library's. */
int PMPI_Get_processor_name(char *name, int *length)
{
    int (*real)(char *, int *), rank;
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Get_processor_name");
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(when, "descriptors") == 0)
        use_up(rank);
    return real(name, length);
}

int main(int argc, char **argv)
{
    enum { COUNT = 1 << 20 };
    static double in[COUNT], out[COUNT];
    int rank, ranks, number, good = 1;
    when = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(when, "later") == 0)
        use_up(rank);
    for (int i = 0; i < 5; i++) {
        number = rank == 0 ? 42 + i : -1;
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        good = good && number == 42 + i;
    }
    for (int count = 1; count <= COUNT; count *= 32) {
        for (int i = 0; i < count; i++)
            in[i] = rank + 1 + i % 7;
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            good = good && out[i] == ranks * (ranks + 1) / 2 + ranks * (i % 7);
    }
    puts(good ? "right" : "wrong");
    fflush(stdout);
    MPI_Finalize();
    return !good;
}
