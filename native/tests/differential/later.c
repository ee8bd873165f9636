#include "later.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

void later_draw(struct trial *trial, bool often)
{
    bool drawn = often ? !random_one_in(&trial->shared, 4) : random_one_in(&trial->shared, 3), known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || strcmp(call_names[trial->which], names[i]) == 0;
    trial->later = drawn && known;
    trial->persistent = random_one_in(&trial->shared, 3) && trial->later && HAS_PERSISTENT;
    trial->tally->of[DRAWN_LATER] += trial->later;
    trial->tally->of[DRAWN_PERSISTENT] += trial->persistent;
}

bool later_is_ours(const struct trial *trial, int (*use)(MPI_Comm, const char *, const char *))
{
    char name[32];
    snprintf(name, sizeof name, "i%s", call_names[trial->which]);
    return use(trial->comm, name, "unisono/posted") == 0 ||
           use(trial->comm, name, "unisono/leader") == 0; /* over several nodes */
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

/* Or once more with other data, when its results are there, which stay: other ranks may not have read yet what this one gave. */
static int start_after(struct trial *trial)
{
    char *kept[HELD_MOST];
    for (int i = 0; i < trial->helds; i++) {
        kept[i] = malloc(trial->held[i].bytes);
        memcpy(kept[i], trial->held[i].memory, trial->held[i].bytes);
        memset(trial->held[i].memory, 0, trial->held[i].bytes);
    }
    int error = start(trial);
    if (error == MPI_SUCCESS)
        error = MPI_Wait(&trial->request, MPI_STATUS_IGNORE);
    for (int i = 0; i < trial->helds; i++) {
        memcpy(trial->held[i].memory, kept[i], trial->held[i].bytes);
        free(kept[i]);
    }
    return error;
}

/* Sometimes, so that the others are ahead. */
static void pause_a_while(struct trial *trial)
{
    enum { NANOSECONDS = 300000 };
    if (random_one_in(&trial->own, 6))
        nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
}

/* The program has heard that it is over. */
static void is_over(struct trial *trial, MPI_Request request)
{
    trial->is_over = true;
    trial->is_wrong = trial->is_wrong || request != (trial->persistent ? trial->request : MPI_REQUEST_NULL);
}

void later_look(struct trial *trial)
{
    struct trial *one = trial;
    int done = 0;
    while (one->outer != NULL && random_one_in(&trial->own, 2))
        one = one->outer;
    if (!one->later || one->is_over || random_one_in(&trial->own, 2))
        return;
    MPI_Request request = one->request;
    one->is_wrong = MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || one->is_wrong;
    if (done)
        is_over(one, request);
}

enum { MORE = 2, BESIDE_MOST = 8 };

/* Waits for it and for `more` other requests; beside these, or before, for those outside of it that are drawn; in any order. */
static int wait(struct trial *trial, int more, MPI_Request *others)
{
    enum { WAYS = 9 };
    struct trial *of[BESIDE_MOST] = {trial};
    MPI_Request requests[BESIDE_MOST] = {trial->request};
    int count = 1;
    for (int i = 0; i < more; i++)
        requests[count] = others[i], of[count++] = NULL;
    for (struct trial *outer = trial->outer; outer != NULL && count < BESIDE_MOST; outer = outer->outer)
        if (outer->later && !outer->is_over && random_one_in(&trial->own, 2))
            requests[count] = outer->request, of[count++] = outer;
    for (int i = count - 1; i > 0; i--) {
        const int other = random_below(&trial->own, i + 1);
        MPI_Request request = requests[i];
        struct trial *one = of[i];
        requests[i] = requests[other], of[i] = of[other];
        requests[other] = request, of[other] = one;
    }
    int error = await(random_below(&trial->own, WAYS), count, requests);
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        if (of[i] != NULL)
            is_over(of[i], requests[i]);
    return error;
}

/* Barriers, or a message to the next rank and one from that before. */
static int begin_more(struct trial *trial, int *in, MPI_Request *requests)
{
    enum { TAG = 7 };
    const int more = random_below(&trial->shared, 1 + MORE);
    const bool sends = random_one_in(&trial->shared, 2) && more == MORE;
    if (trial->between != NULL)
        return 0; /* others' barriers would be waited for here alone */
    *in = sends ? -1 : *in;
    for (int i = 0; i < more && !sends; i++)
        MPI_Ibarrier(trial->comm, &requests[i]);
    if (sends) {
        MPI_Irecv(in, 1, MPI_INT, (trial->rank + trial->ranks - 1) % trial->ranks, TAG, trial->comm, &requests[0]);
        MPI_Isend(&trial->rank, 1, MPI_INT, (trial->rank + 1) % trial->ranks, TAG, trial->comm, &requests[1]);
    }
    return more;
}

int later_end(struct trial *trial, int error)
{
    MPI_Request requests[MORE];
    const int from = (trial->rank + trial->ranks - 1) % trial->ranks;
    int in = from;
    if (error == MPI_SUCCESS && trial->persistent)
        error = start_before(trial);
    if (error == MPI_SUCCESS && trial->persistent)
        error = start(trial);
    if (error != MPI_SUCCESS)
        return error;
    const int more = begin_more(trial, &in, requests);
    if (trial->between != NULL)
        trial->is_wrong = !trial->between(trial) || trial->is_wrong;
    pause_a_while(trial);
    if (!trial->is_over)
        error = wait(trial, more, requests);
    if (trial->persistent && random_one_in(&trial->shared, 3) && error == MPI_SUCCESS)
        error = start_after(trial);
    trial->is_wrong = trial->is_wrong || in != from;
    if (trial->persistent && MPI_Request_free(&trial->request) != MPI_SUCCESS)
        return MPI_ERR_REQUEST; /* it stays the program's until then */
    return error;
}
