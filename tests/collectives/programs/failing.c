/* A rank that ends in the middle of a collective: `failing HOW COLLECTIVE BYTES SECONDS`. The last rank ends so many seconds
 * after it began, wherever it is then: HOW is kill, term, abort or exit. What the others are told is printed as a class;
 * what a collective returned without an error is looked at. Where the MPI library can go on, they do so without it. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

/* Of the library, where it is preloaded. */
extern int unisono_applies(MPI_Comm, const char *, long long, int) __attribute__((weak));

static const char *how;

static void end(int number)
{
    (void)number;
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "exit") == 0)
        _exit(3);
    kill(getpid(), strcmp(how, "term") == 0 ? SIGTERM : SIGKILL);
}

/* By name, on values that say which round and rank they are from; -1: the result is wrong, else what MPI says. */
static int collective(const char *name, int count, int round, MPI_Comm comm)
{
    int rank, ranks, wrong = 0, error = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int root = round % ranks, all = count * ranks;
    int *send = malloc((size_t)all * sizeof *send), *receive = malloc((size_t)all * sizeof *receive);
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *at = counts + ranks;
    for (int i = 0; i < all; i++)
        send[i] = round * 1000 + rank * 100 + i / count, receive[i] = -1;
    for (int i = 0; i < ranks; i++)
        counts[i] = count, at[i] = i * count;
    if (strcmp(name, "barrier") == 0)
        error = MPI_Barrier(comm);
    else if (strcmp(name, "bcast") == 0) {
        error = MPI_Bcast(send, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++)
            wrong += send[i] != round * 1000 + root * 100;
    } else if (strcmp(name, "reduce") == 0 || strcmp(name, "allreduce") == 0) {
        error = name[0] == 'r' ? MPI_Reduce(send, receive, count, MPI_INT, MPI_SUM, root, comm)
                               : MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < count && (name[0] == 'a' || rank == root); i++)
            wrong += receive[i] != ranks * round * 1000 + 100 * ranks * (ranks - 1) / 2;
    } else if (strncmp(name, "allgather", 9) == 0) {
        error = name[9] == 'v' ? MPI_Allgatherv(send, count, MPI_INT, receive, counts, at, MPI_INT, comm)
                               : MPI_Allgather(send, count, MPI_INT, receive, count, MPI_INT, comm);
        for (int i = 0; i < all; i++)
            wrong += receive[i] != round * 1000 + i / count * 100;
    } else if (strcmp(name, "gather") == 0) {
        error = MPI_Gather(send, count, MPI_INT, receive, count, MPI_INT, root, comm);
        for (int i = 0; i < all && rank == root; i++)
            wrong += receive[i] != round * 1000 + i / count * 100;
    } else if (strcmp(name, "scatter") == 0) {
        error = MPI_Scatter(send, count, MPI_INT, receive, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++)
            wrong += receive[i] != round * 1000 + root * 100 + rank;
    } else {
        error = strcmp(name, "alltoallv") == 0
                    ? MPI_Alltoallv(send, counts, at, MPI_INT, receive, counts, at, MPI_INT, comm)
                    : MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, comm);
        for (int i = 0; i < all; i++)
            wrong += receive[i] != round * 1000 + i / count * 100 + rank;
    }
    free(send);
    free(receive);
    free(counts);
    return error != MPI_SUCCESS ? error : wrong ? -1 : MPI_SUCCESS;
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    int rank, ranks, error = MPI_SUCCESS, class = MPI_SUCCESS, elements = atoi(arguments[3]) / (int)sizeof(int);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    how = arguments[1];
    if (&unisono_applies != NULL &&
        !unisono_applies(comm, arguments[2], elements * (long long)sizeof(int), sizeof(int))) {
        printf("not served\n");
        MPI_Finalize();
        return 0;
    }
    for (int round = 0; round < 5 && error == MPI_SUCCESS; round++)
        error = collective(arguments[2], elements, round, comm);
    if (rank == ranks - 1) {
        double seconds = atof(arguments[4]);
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL,
                  &(struct itimerval){.it_value = {(time_t)seconds, (suseconds_t)(seconds * 1e6) % 1000000}}, NULL);
    }
    for (int round = 0; error == MPI_SUCCESS; round++)
        error = collective(arguments[2], elements, round % 1000, comm);
    if (error > 0)
        MPI_Error_class(error, &class);
    printf("%s\n", error < 0 ? "wrong" : "told");
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPI_Comm alive;
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED)
        printf("another class: %d\n", class);
    MPIX_Comm_revoke(comm);
    if (MPIX_Comm_shrink(comm, &alive) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
        for (int round = error = 0; round < 20 && error == MPI_SUCCESS; round++)
            error = collective(arguments[2], elements, round, alive);
        if (error)
            printf("not right without it: %d\n", error); /* below 0: wrong data */
        else
            printf("right without it\n");
        MPI_Comm_free(&alive);
    }
    MPI_Comm_free(&comm);
#endif
    fflush(stdout);
    usleep(300000); /* the others may be in their last call still, and who leaves without MPI_Finalize has failed */
    _exit(
        0); /* MPI_Finalize may wait for the one that is not there; that of Open MPI 5.0 does at times, without us too */
}
