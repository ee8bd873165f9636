#include "fabric.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "failure.h"

/* What a count can say with room to spare; longer messages are one element of a type of their own. */
static const int64_t longest = INT64_C(1) << 30;

/* Whether there is nothing to send, or nobody who would hear it; *error then says which. */
static inline bool is_over(const struct fabric *fabric, int64_t bytes, int peer, int *error)
{
    bool failed = __builtin_expect(failure_known(fabric->failure), false);
    *error = failed ? fabric->failure->error : MPI_SUCCESS;
    return failed || bytes <= 0 || peer < 0;
}

/* A type of exactly so many elements. */
static int long_type(int64_t count, MPI_Datatype of, MPI_Datatype *type)
{
    MPI_Datatype piece;
    MPI_Aint low, extent;
    int error = PMPI_Type_get_extent(of, &low, &extent);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_contiguous((int)longest, of, &piece);
    if (error != MPI_SUCCESS)
        return error;
    int lengths[2] = {(int)(count / longest), (int)(count % longest)};
    MPI_Aint at[2] = {0, (MPI_Aint)(count - count % longest) * extent};
    MPI_Datatype types[2] = {piece, of};
    error = PMPI_Type_create_struct(2, lengths, at, types, type);
    PMPI_Type_free(&piece);
    return error == MPI_SUCCESS ? PMPI_Type_commit(type) : error;
}

/* Whether messages are remembered: where an algorithm may give up while some are under way, and its call returns. */
static inline bool remembers(const struct fabric *fabric)
{
    return __builtin_expect(fabric->hears || fabric->survives, false) && fabric->failure != NULL;
}

/* Room for so many of them; false: no memory, and what is under way is not known any more. */
static bool make_room(struct failure *failure, MPI_Request **requests, int *room, int count)
{
    enum { LEAST = 64 };
    if (count <= *room)
        return true;
    int wanted = 2 * count > LEAST ? 2 * count : LEAST;
    MPI_Request *more = realloc(*requests, (size_t)wanted * sizeof *more);
    if (more == NULL) {
        failure->messages = 0;
        return false;
    }
    *requests = more;
    *room = wanted;
    return true;
}

static void note(const struct fabric *fabric, MPI_Request request)
{
    struct failure *failure = fabric->failure;
    if (remembers(fabric) && request != MPI_REQUEST_NULL &&
        make_room(failure, &failure->message, &failure->messages_room, failure->messages + 1))
        failure->message[failure->messages++] = request;
}

void fabric_forget(const struct fabric *fabric, MPI_Request request)
{
    struct failure *failure = fabric->failure;
    int at = remembers(fabric) ? failure->messages - 1 : -1;
    while (at >= 0 && failure->message[at] != request)
        at--;
    if (at >= 0)
        failure->message[at] = failure->message[--failure->messages];
}

int fabric_begin(const struct fabric *fabric, void *data, MPI_Count many, MPI_Datatype of, int peer, int tag,
                 bool sends, MPI_Request *request)
{
    int error;
    *request = MPI_REQUEST_NULL;
    if (is_over(fabric, (int64_t)many, peer, &error))
        return error;
    MPI_Datatype type = of;
    int count = (int)many;
    if (many > longest) {
        count = 1;
        error = long_type((int64_t)many, of, &type);
    }
    if (error == MPI_SUCCESS && sends)
        error = PMPI_Isend(data, count, type, peer, fabric->tags + tag, fabric->comm, request);
    else if (error == MPI_SUCCESS)
        error = PMPI_Irecv(data, count, type, peer, fabric->tags + tag, fabric->comm, request);
    if (many > longest)
        PMPI_Type_free(&type); /* lives until the message is through */
    return error;
}

static int start(const struct fabric *fabric, void *data, int64_t bytes, int peer, int tag, bool sends,
                 MPI_Request *request)
{
    int error = fabric_begin(fabric, data, (MPI_Count)bytes, MPI_BYTE, peer, tag, sends, request);
    if (error == MPI_SUCCESS)
        note(fabric, *request);
    return error;
}

int fabric_start_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag,
                      MPI_Request *request)
{
    return start(fabric, (void *)(uintptr_t)data, bytes, to, tag, true, request);
}

int fabric_start_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag,
                         MPI_Request *request)
{
    return start(fabric, data, bytes, from, tag, false, request);
}

int fabric_await(const struct fabric *fabric, MPI_Request *request)
{
#ifdef UNISONO_SIMULATED /* ranks do not end, and no time passes while one tests */
    (void)fabric;
    return PMPI_Wait(request, MPI_STATUS_IGNORE);
#else
    enum { LOOK = 64 }; /* turns */
    int error = MPI_SUCCESS, done = false;
    for (unsigned turn = 1; !done && error == MPI_SUCCESS && !failure_known(fabric->failure); turn++) {
        error = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || error != MPI_SUCCESS || turn < LOOK)
            continue;
        if (turn % LOOK == 0)
            failure_look(fabric->failure, turn == LOOK);
        sched_yield();
    }
    return done || error != MPI_SUCCESS ? error : fabric->failure->error;
#endif
}

/* A message to or from a rank that is gone, or has left as well: its memory is the caller's again as soon as this returns.
 * False: the MPI library holds on to it. */
static bool take_back(MPI_Request *request)
{
    enum { TURNS = 2000, TURN = 1000 * 1000 /* ns */ };
    int done = false, error = PMPI_Cancel(request);
    for (int turn = 0; turn < TURNS && !done && error == MPI_SUCCESS; turn++) {
        error = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = TURN}, NULL);
    }
    return done;
}

static void end_with(const char *line)
{
    fprintf(stderr, "unisono: %s: the program ends here\n", line);
    failure_end_job(EXIT_FAILURE);
    abort();
}

/* Where the MPI library goes on when ranks fail, it ends what waits for them by itself. */
int fabric_abandon(MPI_Request *request, int error)
{
    if (failure_tolerated())
        return PMPI_Wait(request, MPI_STATUS_IGNORE);
    if (error == MPI_ERR_NO_MEM)
        end_with("a rank has no memory left for a collective, and this one waits for its message");
    if (!take_back(request))
        end_with("a rank has ended amid a collective, and this one cannot take its message back");
    return error;
}

static int await_message(const struct fabric *fabric, MPI_Request *request)
{
    int error = fabric_await(fabric, request);
    return *request == MPI_REQUEST_NULL ? error : fabric_abandon(request, error);
}

/* Where the MPI library goes on when ranks fail, messages are not asked for once one has: Open MPI marks what it is asked for as
 * failed, and where some of that is on its way from or to a rank alive, takes it for freed when the rest comes, and ends the
 * program (its pull request 13494). PMPI_Request_get_status marks nothing. */
static inline bool is_through(MPI_Request request)
{
    int done = false;
    return PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

/* One that is through, -1: none. */
static int look_for_one(int count, const MPI_Request *requests, bool *any)
{
    *any = false;
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            *any = true;
            if (is_through(requests[i]))
                return i;
        }
    return -1;
}

/* Until one of them is through or a rank has failed, whose class this returns. *which is -1 where all are null, and where `once`
 * is set and none is through. */
static int watch(const struct fabric *fabric, int count, const MPI_Request *requests, bool once, int *which)
{
    enum { LOOK = 64 }; /* turns */
    bool any = true;
    *which = -1;
    for (unsigned turn = 1;; turn++) {
        if (failure_known(fabric->failure))
            return fabric->failure->error;
        *which = look_for_one(count, requests, &any);
        if (*which >= 0 || !any)
            return MPI_SUCCESS;
        if (once || turn % LOOK == 0) {
            int told = failure_told(fabric->comm);
            if (told != MPI_SUCCESS) {
                failure_found(fabric->failure, told);
                return told;
            }
            if (fabric->hears)
                failure_look(fabric->failure, turn == LOOK);
        }
        if (once)
            return failure_known(fabric->failure) ? fabric->failure->error : MPI_SUCCESS;
        if (turn > LOOK)
            sched_yield();
    }
}

/* After a failure: messages between those alive come to their end. */
static void let_through(const struct fabric *fabric)
{
    enum { MOST = 500 }; /* ms: those to or from the dead have no end */
    struct failure *failure = fabric->failure;
    struct timespec from, here;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int at = 0; fabric->survives && failure != NULL && at < failure->messages;) {
        bool done = is_through(failure->message[at]);
        at = done ? at + 1 : 0;
        clock_gettime(CLOCK_MONOTONIC, &here);
        if ((here.tv_sec - from.tv_sec) * 1000 + (here.tv_nsec - from.tv_nsec) / 1000000 >= MOST)
            return;
        if (!done)
            sched_yield();
    }
}

/* Of a message among those that survive. */
static int wait_watching(const struct fabric *fabric, MPI_Request *request, bool *failed)
{
    int which, error = watch(fabric, 1, request, false, &which);
    if (error != MPI_SUCCESS && !*failed)
        let_through(fabric);
    *failed = *failed || error != MPI_SUCCESS;
    int ended = PMPI_Wait(request, MPI_STATUS_IGNORE);
    return error == MPI_SUCCESS ? ended : error;
}

void fabric_take_back(const struct fabric *fabric)
{
    struct failure *failure = fabric->failure;
    let_through(fabric);
    while (failure != NULL && failure->messages > 0) {
        MPI_Request *request = &failure->message[--failure->messages];
        int done = false, error = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && error == MPI_SUCCESS)
            fabric_abandon(request, failure->error);
    }
}

int fabric_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag)
{
    int error;
    if (is_over(fabric, bytes, to, &error))
        return error;
    if (bytes <= longest && !fabric->hears && !fabric->survives)
        return PMPI_Send(data, (int)bytes, MPI_BYTE, to, fabric->tags + tag, fabric->comm);
    MPI_Request request;
    error = fabric_start_send(fabric, data, bytes, to, tag, &request);
    return error == MPI_SUCCESS ? fabric_wait(fabric, 1, &request) : error;
}

int fabric_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag)
{
    int error;
    if (is_over(fabric, bytes, from, &error))
        return error;
    if (bytes <= longest && !fabric->hears && !fabric->survives)
        return PMPI_Recv(data, (int)bytes, MPI_BYTE, from, fabric->tags + tag, fabric->comm, MPI_STATUS_IGNORE);
    MPI_Request request;
    error = fabric_start_receive(fabric, data, bytes, from, tag, &request);
    return error == MPI_SUCCESS ? fabric_wait(fabric, 1, &request) : error;
}

int fabric_exchange(const struct fabric *fabric, const void *send, int64_t send_bytes, int to, void *receive,
                    int64_t receive_bytes, int from, int tag)
{
    MPI_Request request;
    int error = fabric_start_receive(fabric, receive, receive_bytes, from, tag, &request);
    if (error == MPI_SUCCESS)
        error = fabric_send(fabric, send, send_bytes, to, tag);
    return fabric_finish(fabric, error, 1, &request);
}

int fabric_wait(const struct fabric *fabric, int count, MPI_Request *requests)
{
    /* Not MPI_Waitall: what it says of an error may be MPI_ERR_IN_STATUS, which is of no use without the statuses. */
    int error = MPI_SUCCESS;
    bool failed = false;
    for (int i = 0; i < count; i++) {
        const MPI_Request message = requests[i];
        int one = requests[i] == MPI_REQUEST_NULL             ? MPI_SUCCESS
                  : __builtin_expect(fabric->survives, false) ? wait_watching(fabric, &requests[i], &failed)
                  : fabric->hears                             ? await_message(fabric, &requests[i])
                                                              : PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        fabric_forget(fabric, message);
        error = error == MPI_SUCCESS ? one : error;
    }
    return error;
}

int fabric_finish(const struct fabric *fabric, int error, int count, MPI_Request *requests)
{
    if (error == MPI_SUCCESS || (remembers(fabric) && failure_known(fabric->failure))) {
        int waited = fabric_wait(fabric, count, requests);
        return error == MPI_SUCCESS ? waited : error;
    }
    return error;
}

/* The messages as they are, to be known by who is going to be through; NULL: nobody asks. */
static const MPI_Request *as_they_are(const struct fabric *fabric, int count, const MPI_Request *requests)
{
    struct failure *failure = fabric->failure;
    if (!remembers(fabric) || !make_room(failure, &failure->before, &failure->before_room, count))
        return NULL;
    memcpy(failure->before, requests, (size_t)count * sizeof *requests);
    return failure->before;
}

static void forget_one(const struct fabric *fabric, const MPI_Request *before, int *which)
{
    if (*which == MPI_UNDEFINED)
        *which = -1;
    if (*which >= 0 && before != NULL)
        fabric_forget(fabric, before[*which]);
}

static int take_one(const struct fabric *fabric, int count, MPI_Request *requests, bool once, int *which)
{
    int error = watch(fabric, count, requests, once, which);
    if (error != MPI_SUCCESS || *which < 0)
        return error;
    fabric_forget(fabric, requests[*which]);
    return PMPI_Wait(&requests[*which], MPI_STATUS_IGNORE);
}

int fabric_wait_any(const struct fabric *fabric, int count, MPI_Request *requests, int *which)
{
    if (__builtin_expect(fabric->survives, false))
        return take_one(fabric, count, requests, false, which);
    const MPI_Request *before = as_they_are(fabric, count, requests);
    int error = PMPI_Waitany(count, requests, which, MPI_STATUS_IGNORE);
    forget_one(fabric, before, which);
    return error;
}

int fabric_test_any(const struct fabric *fabric, int count, MPI_Request *requests, int *which)
{
    if (__builtin_expect(fabric->survives, false))
        return take_one(fabric, count, requests, true, which);
    const MPI_Request *before = as_they_are(fabric, count, requests);
    int done = false, error = PMPI_Testany(count, requests, which, &done, MPI_STATUS_IGNORE);
    if (!done)
        *which = -1;
    forget_one(fabric, before, which);
    return error;
}

void fabric_progress(const struct fabric *fabric)
{
    int found;
    MPI_Comm comm = fabric->comm;
#ifndef OPEN_MPI
    /* MPICH 4 and 5 move nothing of other ranks where one looks for messages to oneself; and MPICH 4.0 nothing at all where the message is
       there. Open MPI moves all in either case, and where ranks have failed this would call the program's error handler. */
    if (comm == MPI_COMM_SELF)
        comm = MPI_COMM_WORLD;
#endif
    PMPI_Iprobe(MPI_ANY_SOURCE, FABRIC_NEVER_SENT, comm, &found, MPI_STATUS_IGNORE);
}
