#include "nonblocking.h"

#include <string.h>

#include "by_message.h"
#include "dispatch.h"
#include "failure.h"
#include "job.h"
#include "moving.h"
#include "node/posts.h"
#include "node/wait.h"
#include "request.h"
#include "reserve.h"
#include "scheduled.h"
#include "verbose.h"

int dispatch_under_way;

/* One call, from its begin until the program has waited for its request. */
struct operation {
    struct post post; /* the first: what the transport knows of it */
    struct coll_comm *comm;
    struct request request;
    bool is_over;
    struct parts
        *parts;     /* instead, where blocks have lengths of their own; their messages may last longer than the post */
    bool is_posted; /* which is over */
    struct operation *newer, *older;
};

static struct operation *newest; /* of those under way; threads are in MPI one at a time (nonblocking_choice.c) */

static void end(struct operation *operation)
{
    parts_free(operation->parts);
    operation->parts = NULL;
    operation->is_over = true;
    if (operation->newer != NULL)
        operation->newer->older = operation->older;
    else
        newest = operation->older;
    if (operation->older != NULL)
        operation->older->newer = operation->newer;
    dispatch_under_way--;
    request_complete(&operation->request);
}

/* Its messages are moved on; ended, where all is through. */
static void move_messages(struct operation *operation)
{
    struct parts *parts = operation->parts;
    if (parts->under_way > 0 && failure_known(operation->comm->fabric.failure)) {
        parts_abandon(parts, wait_outcome(operation->comm));
        operation->request.error = wait_outcome(operation->comm);
    }
    if (parts_are_through(parts, &operation->request.error) && operation->is_posted)
        end(operation);
}

static void finish(struct post *post, int error)
{
    struct operation *operation = (struct operation *)post;
    int delivered = MPI_SUCCESS;
    if (operation->request.room != NULL)
        delivered = request_deliver(&operation->request, operation->comm);
    else if (operation->parts != NULL && error == MPI_SUCCESS)
        delivered = parts_unpack(operation->parts, operation->comm->comm);
    error = error != MPI_SUCCESS ? error : delivered;
    operation->request.error = error != MPI_SUCCESS ? error : operation->request.error;
    operation->is_posted = true;
    if (operation->parts == NULL)
        end(operation);
    else
        move_messages(operation);
}

/* What can be is moved on; it may be over then. */
static void move(struct operation *operation)
{
    posts_move(operation->comm);
    if (!operation->is_over && operation->parts != NULL)
        move_messages(operation);
}

/* One turn of waiting for it. */
static void turn_for(struct operation *operation, unsigned *turn)
{
    move(operation);
    if (!operation->is_over && !wait_turn(operation->comm, turn))
        posts_fail(operation->comm);
}

static void await(struct operation *operation)
{
    unsigned turn = 0;
    while (!operation->is_over)
        turn_for(operation, &turn);
}

/* One of those under way that is among them; NULL: none. */
static struct operation *find(int count, const MPI_Request *requests)
{
    for (struct operation *one = newest; one != NULL; one = one->older)
        for (int i = 0; i < count; i++)
            if (requests[i] == one->request.request)
                return one;
    return NULL;
}

void dispatch_await_all(int count, const MPI_Request *requests)
{
    struct operation *one;
    while ((one = find(count, requests)) != NULL)
        await(one);
    scheduled_await_all(count, requests);
}

void dispatch_move(void)
{
    struct operation *one = newest;
    while (one != NULL) {
        int before = dispatch_under_way;
        posts_move(one->comm);
        if (dispatch_under_way == before && one->parts != NULL)
            move_messages(one);
        one = dispatch_under_way < before ? newest : one->older;
    }
    moving_move(); /* MPI_Request_get_status_some of MPICH (5.0.2) lets nothing go on */
}

bool dispatch_turn(int count, const MPI_Request *requests, unsigned *turn)
{
    struct operation *one = find(count, requests);
    if (one != NULL)
        turn_for(one, turn);
    return one != NULL;
}

/* Of blocks with lengths of their own: those that go through shared memory, and messages for the others. */
static int collect_parts(struct operation *operation)
{
    struct parts *parts = operation->parts;
    struct fabric fabric;
    const int *world = by_message(operation->comm, &fabric);
    int error = parts_arrange(parts, &operation->post.call, operation->comm->rank, false);
    if (error == MPI_SUCCESS)
        error = parts_pack(parts, operation->comm->comm);
    return error == MPI_SUCCESS ? parts_send(parts, &fabric, world) : error;
}

/* Its data is where the others find it: a request for the rest. */
static int enlist(struct operation *operation)
{
    posts_post(operation->comm, &operation->post);
    if (operation->parts != NULL)
        parts_given(operation->parts);
    int error = request_start(&operation->request, operation);
    operation->older = newest;
    if (newest != NULL)
        newest->newer = operation;
    newest = operation;
    dispatch_under_way++;
    return error;
}

/* What serves it; *call is then what it is. */
static const struct implementation *choose(struct comm_state *state, const struct wish *wish, struct call *call)
{
    *call = wish->call;
    if (collective_has_no_size(call->collective)) {
        if (!by_message_is_there(state->posted))
            return NULL;
        call->piece = posts_piece(state->posted, call);
        call->most = call->piece > 0 ? call->most : 1; /* none is ours, whatever is held */
    }
    return nonblocking_choose(state, state->posted, call, call->collective);
}

/* A neighbourhood's of which this rank does not know that it can be served, or that cannot, is counted like all others. */
static bool is_left(const struct wish *wish, const struct call *call)
{
    return collective_is_near_later(call->collective) && (wish->parts == NULL || call->piece == 0);
}

bool nonblocking_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error)
{
    struct call call;
    if (state->posted == NULL)
        return scheduled_begin(state, wish, request, error);
    const struct implementation *chosen = choose(state, wish, &call);
    struct operation *operation = chosen != NULL ? reserve_get(sizeof *operation) : NULL;
    void *sent = NULL;
    if (chosen != NULL) {
        operation->comm = state->posted;
        operation->post = (struct post){.call = call, .finish = finish, .is_mpis = is_left(wish, &call)};
        operation->parts = wish->parts;
    }
    if (chosen == NULL || !posts_number(state->posted, &operation->post, false)) {
        parts_free(wish->parts);
        reserve_put(operation);
        return false;
    }
    if (job.verbose)
        verbose_count(chosen, call.bytes);
    struct call *ours = &operation->post.call;
    int failed = operation->parts != NULL ? collect_parts(operation)
                                          : request_make_room(&operation->request, wish, ours, operation->comm);
    if (failed == MPI_SUCCESS) /* it is read while the operation begins */
        failed = request_collect(&wish->send, ours, operation->comm, &sent);
    failed = failed != MPI_SUCCESS ? failed : enlist(operation);
    reserve_put(sent);
    *error = failed;
    if (failed != MPI_SUCCESS) { /* the others wait for what this rank cannot give */
        failure_found(state->posted->fabric.failure, failed);
        PMPI_Comm_call_errhandler(state->user, failed);
        return true;
    }
    *request = operation->request.request;
    posts_move(state->posted);
    return true;
}

int nonblocking_run(struct coll_comm *comm, const struct call *call)
{
    struct operation *operation = reserve_get(sizeof *operation);
    operation->comm = comm;
    operation->post = (struct post){.call = *call, .finish = finish};
    if (!posts_number(comm, &operation->post, true)) {
        reserve_put(operation);
        return wait_outcome(comm);
    }
    int error = enlist(operation);
    if (error != MPI_SUCCESS)
        return error;
    MPI_Request request = operation->request.request;
    await(operation);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

void nonblocking_end(struct comm_state *state)
{
    for (struct operation *one = newest; one != NULL; one = newest) {
        while (one != NULL && one->comm != state->posted)
            one = one->older;
        if (one == NULL)
            return;
        await(one);
    }
}
