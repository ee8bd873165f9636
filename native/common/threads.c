#include "threads.h"

#include <mpi.h>

static int any;     /* session was opened */
static int several; /* some session's threads need not wait for one another, or not for those of others */

int threads_level(void)
{
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return __atomic_load_n(&several, __ATOMIC_RELAXED) ? MPI_THREAD_MULTIPLE : level;
}

void threads_session(int level)
{
    __atomic_store_n(&any, 1, __ATOMIC_RELAXED);
    if (level >= MPI_THREAD_SERIALIZED)
        __atomic_store_n(&several, 1, __ATOMIC_RELAXED);
}

bool threads_has_session(void)
{
    return __atomic_load_n(&any, __ATOMIC_RELAXED);
}
