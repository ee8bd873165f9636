#include "scheduled.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "aside.h"
#include "by_message.h"
#include "dispatch.h"
#include "failure.h"
#include "job.h"
#include "peers.h"
#include "progress.h"
#include "request.h"
#include "requests/schedule.h"
#include "reserve.h"
#include "verbose.h"

/* One call, from its begin until the program has waited for its request. */
struct scheduled {
    struct request request;
    struct coll_comm *comm;
    struct apart *apart; /* NULL: it has a private communicator */
    struct schedule schedule;
    void *sent; /* what had to be packed */
    struct scheduled *newer, *older;
};

static struct scheduled *newest; /* of those under way; threads are in MPI one at a time (nonblocking_choice.c) */
static bool is_moving;

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

/* In this job; asked once. */
static bool is_possible(void)
{
    static enum { UNKNOWN, NO, YES } known;
    if (known == UNKNOWN && job.started)
        known = job.progresses && nonblocking_is_allowed() && by_message_tags() >= 0 ? YES : NO;
    return known == YES;
}

bool scheduled_is_possible(const struct comm_state *state)
{
    return (state->apart != NULL || (state->ours != NULL && state->ours->topology.nodes > 1 && state->ours->served)) &&
           is_possible();
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
    if (!is_possible() || !nonblocking_is_wanted() || scheduled_is_possible(state) ||
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
static bool may_begin(const struct scheduled *operation)
{
    if (operation->apart != NULL && !has_heard(operation->apart))
        return false;
    for (const struct scheduled *one = operation->older; one != NULL; one = one->older)
        if (one->comm == operation->comm && one->schedule.number + SCHEDULES <= operation->schedule.number)
            return false;
    return true;
}

static void end(struct scheduled *operation)
{
    schedule_free(&operation->schedule);
    reserve_put(operation->sent);
    if (operation->newer != NULL)
        operation->newer->older = operation->older;
    else
        newest = operation->older;
    if (operation->older != NULL)
        operation->older->newer = operation->newer;
    request_complete(&operation->request);
}

static bool move(struct scheduled *operation)
{
    int error;
    if (!schedule_move(&operation->schedule, may_begin(operation), &error))
        return false;
    int delivered = request_deliver(&operation->request, operation->comm);
    operation->request.error = error != MPI_SUCCESS ? error : delivered;
    end(operation);
    return true;
}

/* All of them, as far as they go; how many are over now. The MPI library may call this amid itself. */
static int move_all(void)
{
    int over = 0;
    if (is_moving || newest == NULL)
        return 0;
    is_moving = true;
    for (struct scheduled *one = newest, *older; one != NULL; one = older) {
        older = one->older;
        over += move(one);
    }
    is_moving = false;
    return over;
}

static int start(struct scheduled *operation, const struct wish *wish, struct schedule_route route)
{
    struct call call = wish->call;
    int error = request_make_room(&operation->request, wish, &call, operation->comm);
    if (error == MPI_SUCCESS)
        error = request_collect(&wish->send, &call, operation->comm, &operation->sent);
    schedule_make(&operation->schedule, operation->comm, route, &call);
    if (error != MPI_SUCCESS)
        return error;
    error = request_start(&operation->request, operation);
    operation->older = newest;
    if (newest != NULL)
        newest->newer = operation;
    newest = operation;
    return error;
}

bool scheduled_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error)
{
    struct coll_comm *comm = state->apart != NULL ? state->apart->comm : state->ours;
    const struct implementation *chosen =
        wish->parts == NULL ? nonblocking_choose(state, comm, &wish->call, wish->call.collective) : NULL;
    if (chosen == NULL)
        return false;
    struct scheduled *operation = reserve_get(sizeof *operation);
    operation->comm = comm;
    operation->apart = state->apart;
    if (job.verbose)
        verbose_count(chosen, wish->call.bytes);
    *error = start(operation, wish, route_of(state));
    if (*error != MPI_SUCCESS) { /* the others wait for what this rank cannot give */
        failure_found(operation->comm->fabric.failure, *error);
        PMPI_Comm_call_errhandler(state->user, *error);
        return true;
    }
    progress_begin(move_all);
    *request = operation->request.request;
    move_all();
    return true;
}

static bool any_of(const struct coll_comm *comm)
{
    const struct scheduled *one = comm != NULL ? newest : NULL;
    while (one != NULL && one->comm != comm)
        one = one->older;
    return one != NULL;
}

void scheduled_end(struct comm_state *state)
{
    struct apart *apart = state->apart;
    scheduled_await(state);
    while (any_of(state->ours) || (apart != NULL && any_of(apart->comm)))
        if (move_all() == 0)
            sched_yield();
    if (apart == NULL)
        return;
    give_number(apart->number);
    reserve_put(apart->numbers);
    coll_comm_free(apart->comm);
    reserve_put(apart);
    state->apart = NULL;
}
