/* Ends in the way its argument says, after three calls of MPI_Allreduce on every rank. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpi.h>

static volatile sig_atomic_t handled;

static void handler(int number)
{
    handled = number;
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "no-mpi") == 0) {
        puts("no MPI here");
        return 5;
    }
    if (strcmp(how, "handler-before") == 0)
        signal(SIGTERM, handler);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    errno = 33;
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("errno %d\n", errno);
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "crash") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(how, "libc-abort") == 0)
        abort();
    if (strcmp(how, "handler-after") == 0)
        signal(SIGTERM, handler);
    if (strncmp(how, "handler", 7) == 0) {
        raise(SIGTERM);
        printf("handled %d\n", (int)handled);
    }
    if (strcmp(how, "ignored") == 0) {
        signal(SIGINT, SIG_IGN);
        raise(SIGINT);
    }
    if (strcmp(how, "fork") == 0) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            raise(SIGTERM);
            _exit(1);
        }
        waitpid(child, &status, 0);
        printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
        if (fork() == 0)
            exit(0);
        wait(&status);
    }
    MPI_Finalize();
    return 4;
}
