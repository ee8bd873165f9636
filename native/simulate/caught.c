/* The messages of our collectives, caught on their way to the simulator (programs.py has the linker's --wrap for each function).
 *
 * A short message leaves its sender free at once. SimGrid can do that, but it keeps all such messages that are under way in one list, and
 * goes through the whole list whenever one of them ends: with thousands of ranks a simulation did little else. So this gives
 * SimGrid messages that end where they arrive (MPI_Issend), keeps them by rank until then, and gives the algorithm a request that is
 * through. The simulated times are the same. Not where UNISONO_SIMULATOR_SENDS is set: some of SimGrid's options are only for messages
 * that it lets go itself. */
#include "caught.h"

#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"

int __real_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on);
int __real_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request);
int __real_PMPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Status *status);
int __real_PMPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Request *request);
int __real_PMPI_Wait(MPI_Request *request, MPI_Status *status);
int __real_PMPI_Waitany(int count, MPI_Request requests[], int *which, MPI_Status *status);
int __real_PMPI_Testany(int count, MPI_Request requests[], int *which, int *done, MPI_Status *status);
int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on);
int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request);
int __wrap_PMPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Status *status);
int __wrap_PMPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Request *request);
int __wrap_PMPI_Wait(MPI_Request *request, MPI_Status *status);
int __wrap_PMPI_Waitany(int count, MPI_Request requests[], int *which, MPI_Status *status);
int __wrap_PMPI_Testany(int count, MPI_Request requests[], int *which, int *done, MPI_Status *status);

enum { SHORT = 65536 }; /* SimGrid's own limit of a short message */

/* How many messages a rank keeps before it looks whether the oldest have arrived. To look changes the order of what ranks do at
 * the same time; but SimGrid goes through a list of all that a rank keeps whenever a message to the rank ends, which is slow where the
 * lists of all ranks are larger than the cache. */
enum { LEAST = 16, MOST = 256, TOGETHER = 32768 };

struct message {
    MPI_Request request;
    void *data;
    struct message *next;
};

/* Of a rank, the oldest first. */
struct kept {
    struct message *first, **last;
    int count;
};

static char through;

static MPI_Request is_through(void)
{
    return (MPI_Request)(void *)&through;
}

static bool keeps(void)
{
    static int known = -1; /* the same for all ranks, which share it */
    if (known < 0)
        known = getenv("UNISONO_SIMULATOR_SENDS") == NULL;
    return known && !counted_is_on();
}

static int many(void)
{
    static int known; /* the same for all ranks */
    if (known == 0) {
        int ranks = 1;
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
        known = TOGETHER / ranks;
        known = known < LEAST ? LEAST : known > MOST ? MOST : known;
    }
    return known;
}

static struct kept *own(void)
{
    struct kept *mine = smpi_process_get_user_data();
    if (mine == NULL) {
        mine = calloc(1, sizeof *mine);
        if (mine == NULL)
            abort();
        mine->last = &mine->first;
        smpi_process_set_user_data(mine);
    }
    return mine;
}

/* Those that have arrived, from the oldest on; or waits for all. */
static void let_go(struct kept *mine, bool all)
{
    while (mine->first != NULL) {
        struct message *oldest = mine->first;
        int arrived = true;
        if (all)
            __real_PMPI_Wait(&oldest->request, MPI_STATUS_IGNORE);
        else
            PMPI_Test(&oldest->request, &arrived, MPI_STATUS_IGNORE);
        if (!arrived)
            return;
        mine->first = oldest->next;
        mine->count--;
        free(oldest->data), free(oldest);
    }
    mine->last = &mine->first;
}

void caught_end(void)
{
    if (keeps())
        let_go(own(), true);
}

/* A copy leaves, as the algorithm may overwrite what it has sent. */
static int keep(const void *data, int64_t bytes, int to, int tag, MPI_Comm on)
{
    struct kept *mine = own();
    struct message *message = malloc(sizeof *message);
    void *copy = malloc((size_t)bytes + 1);
    if (message == NULL || copy == NULL)
        abort();
    memmove(copy, data, (size_t)bytes);
    *message = (struct message){.data = copy};
    if (mine->count >= many())
        let_go(mine, false);
    int error = PMPI_Issend(copy, (int)bytes, MPI_BYTE, to, tag, on, &message->request);
    *mine->last = message;
    mine->last = &message->next;
    mine->count++;
    return error;
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on)
{
    const int64_t bytes = bytes_of(count, type);
    if (counted_is_on())
        return counted_send(data, bytes, to, tag, on);
    return keeps() && bytes < SHORT ? keep(data, bytes, to, tag, on) : __real_PMPI_Send(data, count, type, to, tag, on);
}

int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request)
{
    const int64_t bytes = bytes_of(count, type);
    *request = is_through();
    if (counted_is_on())
        return counted_send(data, bytes, to, tag, on);
    return keeps() && bytes < SHORT ? keep(data, bytes, to, tag, on)
                                    : __real_PMPI_Isend(data, count, type, to, tag, on, request);
}

int __wrap_PMPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Request *request)
{
    return counted_is_on() ? counted_receive(data, bytes_of(count, type), from, tag, on, request)
                           : __real_PMPI_Irecv(data, count, type, from, tag, on, request);
}

int __wrap_PMPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Status *status)
{
    MPI_Request request;
    if (!counted_is_on())
        return __real_PMPI_Recv(data, count, type, from, tag, on, status);
    counted_receive(data, bytes_of(count, type), from, tag, on, &request);
    return counted_wait(1, &request, true) == 0 ? MPI_SUCCESS : MPI_ERR_INTERN;
}

/* The first that has left its sender, -1: none; it is then null. */
static int take_through(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] == is_through()) {
            requests[i] = MPI_REQUEST_NULL;
            return i;
        }
    return -1;
}

int __wrap_PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (take_through(1, request) == 0)
        return MPI_SUCCESS;
    if (counted_is_on())
        counted_wait(1, request, true);
    return counted_is_on() ? MPI_SUCCESS : __real_PMPI_Wait(request, status);
}

int __wrap_PMPI_Waitany(int count, MPI_Request requests[], int *which, MPI_Status *status)
{
    *which = take_through(count, requests);
    if (*which >= 0)
        return MPI_SUCCESS;
    if (!counted_is_on())
        return __real_PMPI_Waitany(count, requests, which, status);
    *which = counted_wait(count, requests, true);
    *which = *which < 0 ? MPI_UNDEFINED : *which;
    return MPI_SUCCESS;
}

/* Of those that have left SimGrid tells here only where no others are asked for: then it says that none is left. */
int __wrap_PMPI_Testany(int count, MPI_Request requests[], int *which, int *done, MPI_Status *status)
{
    if (counted_is_on()) {
        *which = take_through(count, requests);
        *which = *which >= 0 ? *which : counted_wait(count, requests, false);
        *done = *which >= 0;
        return MPI_SUCCESS;
    }
    MPI_Request *others = malloc(((size_t)count + 1) * sizeof(MPI_Request));
    if (others == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++)
        others[i] = requests[i] == is_through() ? MPI_REQUEST_NULL : requests[i];
    const int error = __real_PMPI_Testany(count, others, which, done, status);
    for (int i = 0; i < count; i++)
        requests[i] = requests[i] == is_through() ? requests[i] : others[i];
    free(others);
    return error;
}
