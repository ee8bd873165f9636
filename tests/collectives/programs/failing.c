/* A rank that ends in the middle of a collective: `failing HOW COLLECTIVE BYTES SECONDS`. The last rank ends so many seconds
 * after it began, wherever it is then: HOW is kill, term, abort or exit. What the others are told is printed as a class;
 * what a collective returned without an error is looked at; from when it returned one, nobody may touch the memory that was
 * given to it. Where the MPI library can go on, the others do so without that rank. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#include "any.h"

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

/* The same memory for every call. */
enum { HELD = 2, PAGE = 4096 };
static void *held[HELD];
static size_t held_bytes[HELD];

static void *get(size_t bytes)
{
    static int next;
    int at = next++ % HELD;
    if (held_bytes[at] < bytes) {
        held_bytes[at] = (bytes + PAGE - 1) / PAGE * PAGE;
        held[at] = mmap(NULL, held_bytes[at], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return held[at];
}

static void keep(void *memory)
{
    (void)memory;
}

/* What still comes for it would end the program. */
static void let_nobody_touch_it(void)
{
    enum { TURNS = 300, TURN = 1000 /* microseconds */ };
    for (int i = 0; i < HELD; i++) {
        mprotect(held[i], held_bytes[i], PROT_NONE);
        held_bytes[i] = 0;
    }
    for (int i = 0; i < TURNS; i++) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        usleep(TURN);
    }
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    const char *name = arguments[2];
    int rank, ranks, error = MPI_SUCCESS, class = MPI_SUCCESS;
    MPI_Comm comm = any_comm(name, MPI_COMM_WORLD);
    struct any any = {.comm = comm, .count = atoi(arguments[3]) / (int)sizeof(int)};
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    how = arguments[1];
    any_get = get, any_put = keep;
    if (&unisono_applies != NULL && !unisono_applies(comm, name, any_bytes(name, &any), sizeof(int))) {
        printf("not served\n");
        MPI_Finalize();
        return 0;
    }
    for (any.round = 0; any.round < 5 && error == MPI_SUCCESS; any.round++)
        error = any_run(name, &any);
    if (rank == ranks - 1) {
        double seconds = atof(arguments[4]);
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL,
                  &(struct itimerval){.it_value = {(time_t)seconds, (suseconds_t)(seconds * 1e6) % 1000000}}, NULL);
    }
    for (any.round = 0; error == MPI_SUCCESS; any.round = (any.round + 1) % 1000)
        error = any_run(name, &any);
    if (error > 0)
        MPI_Error_class(error, &class);
    let_nobody_touch_it();
    printf("%s\n", error < 0 ? "wrong" : "told");
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPI_Comm alive;
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED)
        printf("another class: %d\n", class);
    MPIX_Comm_revoke(comm);
    if (MPIX_Comm_shrink(comm, &alive) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
        any.comm = any_comm(name, alive);
        MPI_Comm_set_errhandler(any.comm, MPI_ERRORS_RETURN);
        for (any.round = error = 0; any.round < 20 && error == MPI_SUCCESS; any.round++)
            error = any_run(name, &any);
        if (error)
            printf("not right without it: %d\n", error); /* below 0: wrong data */
        else
            printf("right without it\n");
        MPI_Comm_free(&any.comm);
        MPI_Comm_free(&alive);
    }
    MPI_Comm_free(&comm);
#endif
    fflush(stdout);
    usleep(300000); /* the others may be in their last call still, and who leaves without MPI_Finalize has failed */
    _exit(
        0); /* MPI_Finalize may wait for the one that is not there; that of Open MPI 5.0 does at times, without us too */
}
