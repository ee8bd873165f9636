#include "threads.h"

#include <mpi.h>

static int several; /* some session's threads need not wait for one another, or not for those of others */

int threads_level(void)
{
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return __atomic_load_n(&several, __ATOMIC_RELAXED) ? MPI_THREAD_MULTIPLE : level;
}

void threads_session(int level)
{
    if (level >= MPI_THREAD_SERIALIZED)
        __atomic_store_n(&several, 1, __ATOMIC_RELAXED);
}
