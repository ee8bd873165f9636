#include "patience.h"

#include <sched.h>
#include <unistd.h>

enum { MOST = 64 }; /* requests at a time */

static bool cores_are_shared;

void patience_learn(MPI_Comm comm, int threads)
{
    MPI_Comm node;
    int all;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&threads, &all, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    cores_are_shared = all > sysconf(_SC_NPROCESSORS_ONLN);
}

bool patience_is_needed(void)
{
    return cores_are_shared;
}

void patience_wait(int count, MPI_Request *requests)
{
    MPI_Status statuses[MOST]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    int done = 0;
    if (!cores_are_shared) {
        MPI_Waitall(count, requests, statuses);
        return;
    }
    while (MPI_Testall(count, requests, &done, statuses), !done)
        sched_yield();
}

void patience_barrier(MPI_Comm comm)
{
    MPI_Request request;
    if (!cores_are_shared) {
        MPI_Barrier(comm);
        return;
    }
    MPI_Ibarrier(comm, &request);
    patience_wait(1, &request);
}

void patience_allreduce(const void *value, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (!cores_are_shared) {
        MPI_Allreduce(value, all, count, type, op, comm);
        return;
    }
    MPI_Iallreduce(value, all, count, type, op, comm, &request);
    patience_wait(1, &request);
}
