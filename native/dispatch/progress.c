#include "progress.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

static int (*registered)(void);

/* MPICH from 4.3 on. Looked up when it runs, as a library that was built with it may run with an older one of the same ABI. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40300000

static bool is_polled; /* MPICH has go_on() in its list */

static int go_on(MPIX_Async_thing thing)
{
    (void)thing;
    if (registered != NULL) {
        registered();
        return MPIX_ASYNC_NOPROGRESS;
    }
    is_polled = false;
    return MPIX_ASYNC_DONE;
}

static void *start_function(void)
{
    return dlsym(RTLD_DEFAULT, "PMPIX_Async_start");
}

bool progress_is_there(void)
{
    return start_function() != NULL;
}

static bool start(void)
{
    int (*call)(MPIX_Async_poll_function *, void *, MPIX_Stream);
    *(void **)&call = start_function();
    is_polled = is_polled || (call != NULL && call(go_on, NULL, MPIX_STREAM_NULL) == MPI_SUCCESS);
    return is_polled;
}

/* What is done leaves the list when MPICH comes by. */
static void stop(int (*move)(void))
{
    const int turns_most = 1000;
    (void)move;
    for (int turn = 0, found; is_polled && turn < turns_most; turn++)
        PMPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

#else

/* Open MPI 4.1 and 5.0: int (int (*)(void)), in opal/runtime/opal_progress.h. */
static int tell(const char *name, int (*move)(void))
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    int (*call)(int (*)(void));
    *(void **)&call = symbol;
    return symbol != NULL ? call(move) : -1;
}

bool progress_is_there(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") != NULL &&
           dlsym(RTLD_DEFAULT, "opal_progress_unregister") != NULL;
}

static bool start(void)
{
    return tell("opal_progress_register", registered) == 0;
}

static void stop(int (*move)(void))
{
    tell("opal_progress_unregister", move);
}

#endif

void progress_begin(int (*move)(void))
{
    if (registered != NULL)
        return;
    registered = move;
    if (!start())
        registered = NULL;
}

void progress_end(void)
{
    int (*const move)(void) = registered;
    registered = NULL;
    if (move != NULL)
        stop(move);
}
