/* libunisono serves what it was asked to, but for when it rests. Who served an allreduce of four doubles is seen by the order in which
 * they were added: rank after rank it gives 1, in pairs 0. */
#include <dlfcn.h>
#include <stdio.h>

#include <mpi.h>

static double sum(MPI_Comm comm)
{
    const double values[] = {1e16, 1, -1e16, 1};
    double all = -1;
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&values[rank], &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, other;
    int rank;
    int (*use)(MPI_Comm, const char *, const char *);
    void (*rest)(int);
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    *(void **)&rest = dlsym(RTLD_DEFAULT, "unisono_rest");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    rest(1); /* before anything was asked for it is no news */
    rest(0);
    double values[8] = {sum(comm)};
    int refused = use(comm, "allreduce", "unisono/cells");
    values[1] = sum(comm);
    rest(1);
    rest(1);
    values[2] = sum(comm);
    refused += use(other, "allreduce", "unisono/cells"); /* which counts from the end of the rest on */
    values[3] = sum(other);
    rest(0);
    values[4] = sum(comm);
    values[5] = sum(other);
    rest(0);
    values[6] = sum(comm);
    refused += use(comm, "allreduce", "");
    values[7] = sum(comm);
    if (rank == 0) {
        printf("%d", refused);
        for (int i = 0; i < 8; i++)
            printf(" %g", values[i]);
        printf("\n");
    }
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
