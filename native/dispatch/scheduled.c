#include "scheduled.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "aside.h"
#include "by_message.h"
#include "dispatch.h"
#include "failure.h"
#include "job.h"
#include "moving.h"
#include "node/wait.h"
#include "peers.h"
#include "request.h"
#include "reserve.h"
#include "verbose.h"
#include "wishes.h"

/* One call, from its begin until the program has waited for its request. */
struct scheduled {
    struct moving moving; /* the first: what moves it on knows of it */
    struct request request;
    struct apart *apart; /* NULL: it has a private communicator */
    void *sent;          /* what had to be packed */
    struct parts *parts; /* of an iallgatherv; else NULL */
};

/* Of a communicator without a private one. */
struct apart {
    struct coll_comm *comm;
    MPI_Request heard;    /* of the numbers */
    int number, *numbers; /* of this rank, of all of them */
};

static int *given_back, returned, most_returned, next_number; /* numbers of this rank */

static int take_number(void)
{
    return returned > 0 ? given_back[--returned] : next_number++;
}

static void give_number(int number)
{
    enum { MORE = 16 };
    if (returned == most_returned) {
        int *more = reserve_get((size_t)(most_returned + MORE) * 2 * sizeof *more);
        if (returned > 0)
            memcpy(more, given_back, (size_t)returned * sizeof *more);
        reserve_put(given_back);
        given_back = more;
        most_returned = 2 * (most_returned + MORE);
    }
    given_back[returned++] = number;
}

/* All that begins there ends with this error. */
static void give_up(struct apart *apart, int error)
{
    apart->heard = MPI_REQUEST_NULL;
    failure_found(apart->comm->fabric.failure, error);
}

bool scheduled_is_allowed(void)
{
    static enum { UNKNOWN, NO, YES } known;
    if (known == UNKNOWN && job.started)
        known = job.progresses && nonblocking_is_allowed() && by_message_tags() >= 0 ? YES : NO;
    return known == YES;
}

bool scheduled_is_possible(const struct comm_state *state)
{
    return (state->apart != NULL || (state->ours != NULL && state->ours->topology.nodes > 1 && state->ours->served)) &&
           scheduled_is_allowed();
}

/* Tags of slots of private communicators come before those of numbers: MPI_COMM_WORLD's has both. */
static struct schedule_route route_of(const struct comm_state *state)
{
    const struct apart *apart = state->apart;
    if (apart == NULL)
        return (struct schedule_route){.comm = state->ours->fabric.comm,
                                       .tags = by_message_tags() + state->ours->slot * SCHEDULES};
    return (struct schedule_route){.comm = by_message_world(),
                                   .tags = by_message_tags() + SLOTS_TOGETHER * SCHEDULES,
                                   .ranks = apart->comm->peers->world,
                                   .number = apart->numbers};
}

void scheduled_offer(struct comm_state *state)
{
    struct aside aside;
    if (!scheduled_is_allowed() || !nonblocking_is_wanted() || scheduled_is_possible(state) ||
        by_message_world() == MPI_COMM_NULL || !comm_state_find_place(state) || state->peers->topology.nodes == 1 ||
        !comm_state_wants_schedules(state))
        return;
    struct coll_comm *comm = coll_comm_alone(state->peers);
    if (comm == NULL) { /* and the others count on this rank */
        fprintf(stderr, "unisono: a rank has no memory left for nonblocking collectives; the program ends\n");
        failure_end_job(1);
    }
    if (job.has_costs)
        comm->costs = job.costs;
    struct apart *apart = state->apart = reserve_get(sizeof *apart);
    *apart = (struct apart){.comm = comm, .number = take_number()};
    apart->numbers = reserve_get((size_t)comm->ranks * sizeof *apart->numbers);
    aside_step(state->user, &aside);
    int error = PMPI_Iallgather(&apart->number, 1, MPI_INT, apart->numbers, 1, MPI_INT, state->user, &apart->heard);
    aside_back(state->user, &aside);
    if (error != MPI_SUCCESS)
        give_up(apart, error);
}

/* Whether this rank knows where the others receive, or that it will not. */
static bool has_heard(struct apart *apart)
{
    int heard = true;
    if (apart->heard == MPI_REQUEST_NULL)
        return true;
    int error = PMPI_Test(&apart->heard, &heard, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS)
        give_up(apart, error);
    return heard || error != MPI_SUCCESS;
}

void scheduled_await(struct comm_state *state)
{
    struct aside aside;
    if (state->apart == NULL || state->apart->heard == MPI_REQUEST_NULL)
        return;
    aside_step(state->user, &aside);
    while (!has_heard(state->apart))
        sched_yield();
    aside_back(state->user, &aside);
}

/* Whether it is known where the others receive, and the schedule before it that has its tag is over. */
static bool may_begin(const struct moving *moving)
{
    const struct scheduled *operation = (const struct scheduled *)moving;
    const struct schedule *mine = &moving->schedule;
    if (operation->apart != NULL && !has_heard(operation->apart))
        return false;
    for (const struct moving *one = moving->older; one != NULL; one = one->older)
        if (one->schedule.comm == mine->comm && one->schedule.number + SCHEDULES <= mine->number)
            return false;
    return true;
}

static void end(struct moving *moving, int error)
{
    struct scheduled *operation = (struct scheduled *)moving;
    int delivered = request_deliver(&operation->request, moving->schedule.comm);
    if (operation->parts != NULL && error == MPI_SUCCESS)
        delivered = parts_unpack(operation->parts, moving->schedule.comm->comm);
    parts_free(operation->parts);
    operation->request.error = error != MPI_SUCCESS ? error : delivered;
    schedule_free(&moving->schedule);
    reserve_put(operation->sent);
    dispatch_under_way--;
    request_complete(&operation->request);
}

static int prepare(struct scheduled *operation, struct coll_comm *comm, const struct wish *wish,
                   struct schedule_route route)
{
    struct call call = wish->call;
    struct parts *parts = operation->parts = wish->parts;
    int64_t *lengths = wish_lengths(wish, comm->ranks);
    int error = parts != NULL ? parts_arrange(parts, &call, comm->rank, false)
                              : request_make_room(&operation->request, wish, &call, comm);
    if (error == MPI_SUCCESS)
        error =
            parts != NULL ? parts_pack(parts, comm->comm) : request_collect(&wish->send, &call, comm, &operation->sent);
    call.send_bytes = lengths != NULL ? lengths : call.send_bytes;
    schedule_make(&operation->moving.schedule, comm, route, &call);
    reserve_put(lengths);
    return error == MPI_SUCCESS ? request_start(&operation->request, operation) : error;
}

bool scheduled_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error)
{
    struct coll_comm *comm = state->apart != NULL ? state->apart->comm : state->ours;
    const struct implementation *chosen = nonblocking_choose(state, comm, &wish->call, wish->call.collective);
    if (chosen == NULL) {
        parts_free(wish->parts);
        return false;
    }
    struct scheduled *operation = reserve_get(sizeof *operation);
    operation->moving = (struct moving){.may_begin = may_begin, .end = end};
    operation->apart = state->apart;
    if (job.verbose)
        verbose_count(chosen, wish->call.bytes);
    *error = prepare(operation, comm, wish, route_of(state));
    if (*error != MPI_SUCCESS) { /* the others wait for what this rank cannot give */
        failure_found(comm->fabric.failure, *error);
        PMPI_Comm_call_errhandler(state->user, *error);
        return true;
    }
    *request = operation->request.request;
    dispatch_under_way++;
    moving_start(&operation->moving);
    return true;
}

/* One under way that is among them; NULL: none. */
static const struct moving *find(int count, const MPI_Request *requests)
{
    for (const struct moving *one = moving_newest(); one != NULL; one = one->older)
        for (int i = 0; one->end == end && i < count; i++)
            if (requests[i] == ((const struct scheduled *)one)->request.request)
                return one;
    return NULL;
}

void scheduled_await_all(int count, const MPI_Request *requests)
{
    const struct moving *one;
    for (unsigned turn = 0; (one = find(count, requests)) != NULL; moving_move())
        wait_turn(one->schedule.comm, &turn);
}

void scheduled_end(struct comm_state *state)
{
    struct apart *apart = state->apart;
    scheduled_await(state);
    while (moving_any(state->ours) || (apart != NULL && moving_any(apart->comm)))
        if (moving_move() == 0)
            sched_yield();
    if (apart == NULL)
        return;
    give_number(apart->number);
    reserve_put(apart->numbers);
    coll_comm_free(apart->comm);
    reserve_put(apart);
    state->apart = NULL;
}
