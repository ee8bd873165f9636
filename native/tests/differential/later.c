#include "later.h"

#include <string.h>

/* MPICH 4.0.2's nonblocking reduction in place crashes as its blocking one does (buffers.h), and those of the others that block give
 * no reference for all of what is drawn here; so those that ours serve, without what MPICH cannot. */
static const char *const names[] = {"allgather",
                                    "allgatherv",
                                    "allreduce",
                                    "alltoall",
                                    "alltoallv",
                                    "alltoallw",
                                    "barrier",
                                    "bcast",
                                    "exscan",
                                    "gather",
                                    "gatherv",
                                    "neighbor_allgather",
                                    "neighbor_allgatherv",
                                    "neighbor_alltoall",
                                    "neighbor_alltoallv",
                                    "neighbor_alltoallw",
                                    "reduce",
                                    "reduce_scatter",
                                    "reduce_scatter_block",
                                    "scan",
                                    "scatter",
                                    "scatterv"};

void later_draw(struct trial *trial)
{
    bool drawn = random_one_in(&trial->shared, 3), known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || strcmp(call_names[trial->which], names[i]) == 0;
    trial->later = drawn && known;
    trial->persistent = random_one_in(&trial->shared, 3) && trial->later && HAS_PERSISTENT;
    trial->tally->of[DRAWN_LATER] += trial->later;
    trial->tally->of[DRAWN_PERSISTENT] += trial->persistent;
}

/* One way to wait for all of them. */
static int await(int way, int count, MPI_Request *requests)
{
    int error = MPI_SUCCESS, which[4], some = 0, done = 0;
    for (int left = count; left > 0 && error == MPI_SUCCESS;) {
        switch (way) {
        case 0:
            error = MPI_Waitany(count, requests, &which[0], MPI_STATUS_IGNORE);
            left = which[0] == MPI_UNDEFINED ? 0 : left - 1;
            break;
        case 1:
            error = MPI_Waitsome(count, requests, &some, which, MPI_STATUSES_IGNORE);
            left = some == MPI_UNDEFINED ? 0 : left - some;
            break;
        case 2:
            error = MPI_Testany(count, requests, &which[0], &done, MPI_STATUS_IGNORE);
            left = done && which[0] == MPI_UNDEFINED ? 0 : left - done;
            break;
        case 3:
            error = MPI_Testsome(count, requests, &some, which, MPI_STATUSES_IGNORE);
            left = some == MPI_UNDEFINED ? 0 : left - some;
            break;
        case 4:
            error = MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
            left = done ? 0 : left;
            break;
        case 5:
            error = MPI_Test(&requests[left - 1], &done, MPI_STATUS_IGNORE);
            left -= done;
            break;
        case 6:
            error = MPI_Request_get_status(requests[left - 1], &done, MPI_STATUS_IGNORE);
            if (done && error == MPI_SUCCESS) {
                error = MPI_Wait(&requests[left - 1], MPI_STATUS_IGNORE);
                left--;
            }
            break;
        case 7:
            error = MPI_Wait(&requests[left - 1], MPI_STATUS_IGNORE);
            left--;
            break;
        default: error = MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); left = 0;
        }
    }
    return error;
}

int later_end(struct trial *trial, int error)
{
    enum { WAYS = 9, BARRIERS = 2 };
    MPI_Request requests[1 + BARRIERS] = {trial->request};
    int more = random_below(&trial->shared, 1 + BARRIERS), way = random_below(&trial->own, WAYS);
    bool all = random_one_in(&trial->own, 2);
    if (error != MPI_SUCCESS)
        return error;
    if (trial->persistent)
        error = all ? MPI_Startall(1, requests) : MPI_Start(requests);
    for (int i = 0; i < more; i++)
        MPI_Ibarrier(trial->comm, &requests[1 + i]);
    error = error == MPI_SUCCESS ? await(way, 1 + more, requests) : error;
    if (trial->persistent && (requests[0] != trial->request || MPI_Request_free(requests) != MPI_SUCCESS))
        return MPI_ERR_REQUEST; /* it stays the program's until then */
    return error;
}
