#include "later.h"

#include <stdlib.h>
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
    int error = MPI_SUCCESS, which[8], some = 0, done = 0;
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

static int start(struct trial *trial)
{
    return random_one_in(&trial->own, 2) ? MPI_Startall(1, &trial->request) : MPI_Start(&trial->request);
}

/* A persistent one may be started before with the same data, and is with other data. */
static int start_before(struct trial *trial)
{
    char *kept[HELD_MOST];
    int error = MPI_SUCCESS;
    const int times = random_below(&trial->shared, 3);
    for (int i = 0; i < trial->helds && times > 0; i++) {
        kept[i] = malloc(trial->held[i].bytes);
        memcpy(kept[i], trial->held[i].memory, trial->held[i].bytes);
    }
    for (int time = 0; time < times && error == MPI_SUCCESS; time++) {
        if (time == times - 1) /* no number that an operation could not take */
            for (int i = 0; i < trial->helds; i++)
                memset(trial->held[i].memory, 0, trial->held[i].bytes);
        error = start(trial);
        if (error == MPI_SUCCESS)
            error = MPI_Wait(&trial->request, MPI_STATUS_IGNORE);
        for (int i = 0; i < trial->helds; i++)
            memcpy(trial->held[i].memory, kept[i], trial->held[i].bytes);
    }
    for (int i = 0; i < trial->helds && times > 0; i++)
        free(kept[i]);
    trial->tally->of[DRAWN_STARTED_AGAIN] += times > 0;
    return error;
}

/* Waits for it and for `more` other requests; and for the outer one beside these, where that is drawn. */
static int wait(struct trial *trial, int more, MPI_Request *requests)
{
    enum { WAYS = 9 };
    struct trial *outer = trial->outer;
    const int way = random_below(&trial->own, WAYS);
    const bool both = random_one_in(&trial->own, 2) && outer != NULL && !outer->is_over && outer->later;
    requests[0] = trial->request;
    if (both)
        requests[1 + more] = outer->request;
    int error = await(way, 1 + more + both, requests);
    if (both) {
        outer->is_over = true;
        outer->is_wrong = outer->is_wrong || (outer->persistent && requests[1 + more] != outer->request);
    }
    return error;
}

int later_end(struct trial *trial, int error)
{
    enum { BARRIERS = 2 };
    MPI_Request requests[2 + BARRIERS], made = trial->request;
    int more = random_below(&trial->shared, 1 + BARRIERS);
    if (error == MPI_SUCCESS && trial->persistent)
        error = start_before(trial);
    if (error == MPI_SUCCESS && trial->persistent)
        error = start(trial);
    if (error != MPI_SUCCESS)
        return error;
    if (trial->between != NULL) {
        more = 0; /* their barriers would be waited for here alone */
        trial->is_wrong = !trial->between(trial) || trial->is_wrong;
    }
    for (int i = 0; i < more; i++)
        MPI_Ibarrier(trial->comm, &requests[1 + i]);
    if (!trial->is_over)
        error = wait(trial, more, requests);
    else
        requests[0] = trial->request;
    if (trial->persistent && (requests[0] != made || MPI_Request_free(requests) != MPI_SUCCESS))
        return MPI_ERR_REQUEST; /* it stays the program's until then */
    return error;
}
