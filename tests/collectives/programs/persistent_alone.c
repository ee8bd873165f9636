/* Persistent collectives while a rank is away: `persistent_alone FILE`: the last rank stays away from MPI, with one started, until rank 0
 * has its result and makes that file; "right" at the end, "none" where the MPI has none. With the word "exit" the last rank ends
 * instead of starting it, and the others print what they are told. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

enum { LAST = 2 };

static int rank, ranks;

static void stay_away(const char *file)
{
    for (int i = 0; i < 3000 && access(file, F_OK) != 0; i++)
        usleep(10000);
}

/* Whether the start with this number went as it should. */
static int run(int number, const char *file, int *from, int *sum, MPI_Request *request)
{
    const int is_away = number == LAST && rank == ranks - 1;
    *from = rank + number;
    if (is_away && strcmp(file, "exit") == 0)
        _exit(3);
    MPI_Start(request);
    if (is_away)
        stay_away(file);
    int waited = is_away && access(file, F_OK) != 0;
    if (MPI_Wait(request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        printf("told\n");
        fflush(stdout);
        _exit(0);
    }
    if (number == LAST && rank == 0)
        fclose(fopen(file, "w"));
    return !waited && *sum == ranks * number + ranks * (ranks - 1) / 2;
}

int main(int argc, char **argv)
{
    int from, sum, good = 1, all = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allreduce_init(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k <= LAST; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        good = run(k, argv[1], &from, &sum, &request) && good;
    }
    MPI_Request_free(&request);
    MPI_Reduce(&good, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", all ? "right" : "wrong");
    MPI_Finalize();
    return !good;
}

#else

int main(void)
{
    printf("none\n");
    return 0;
}

#endif
