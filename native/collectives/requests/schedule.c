#include "schedule.h"

#include <string.h>

#include "../failure.h"
#include "../node/wait.h"
#include "../reserve.h"

bool schedule_applies(const struct coll_comm *comm, enum collective collective, const struct shape *shape)
{
    return comm->topology.nodes > 1 && plan_is_there(collective) && shape->commutative && !shape->ordered;
}

int64_t schedule_scratch(enum collective collective, int64_t bytes)
{
    return collective == COLL_IREDUCE ? 2 * bytes : collective == COLL_IALLREDUCE ? bytes : 0;
}

void schedule_make(struct schedule *schedule, struct coll_comm *comm, struct schedule_route route,
                   const struct call *call)
{
    *schedule = (struct schedule){.comm = comm, .route = route, .call = *call, .number = comm->schedules++};
    schedule->plan = plan_make(&comm->topology, call->collective, call->root);
    schedule->request = reserve_get((size_t)(schedule->plan.most + 1) * sizeof *schedule->request);
}

void schedule_free(struct schedule *schedule)
{
    plan_free(&schedule->plan);
    reserve_put(schedule->request);
    reserve_put(schedule->made);
    schedule->request = NULL;
    schedule->made = NULL;
}

void schedule_again(struct schedule *schedule)
{
    const int64_t kept_most = 1 << 16; /* which costs more to make than to use */
    schedule->at = 0;
    schedule->under_way = 0;
    schedule->has_begun = false;
    if (schedule->call.bytes <= kept_most)
        return;
    reserve_put(schedule->made);
    schedule->made = NULL;
}

/* The vectors. What is sent and combined nowhere is sent from where the program has it. */
static void begin(struct schedule *schedule)
{
    const struct call *call = &schedule->call;
    const bool combines = schedule->plan.combines, gets = call->receive != NULL;
    const size_t bytes = (size_t)call->bytes;
    schedule->has_begun = true;
    if (call->collective == COLL_IBARRIER) {
        schedule->mine = &schedule->token[0];
        schedule->beside = &schedule->token[1];
        return;
    }
    if (call->collective == COLL_IBCAST) {
        schedule->mine = gets ? call->receive : (void *)(uintptr_t)call->send;
        return;
    }
    if (combines) {
        schedule->made = schedule->made != NULL ? schedule->made : reserve_get((gets ? 1 : 2) * bytes);
        schedule->beside = schedule->made;
    }
    schedule->mine = gets ? call->receive : !combines ? (void *)(uintptr_t)call->send : (char *)schedule->made + bytes;
    if (schedule->mine != call->send)
        memcpy(schedule->mine, call->send, bytes);
}

static int message(struct schedule *schedule, const struct plan_step *step)
{
    const struct schedule_route *route = &schedule->route;
    const struct fabric fabric = {.comm = route->comm, .failure = schedule->comm->fabric.failure};
    const bool sends = step->kind == PLAN_SEND;
    const int receiver = sends ? step->peer : schedule->comm->rank;
    const int number = route->number != NULL ? route->number[receiver] : 0;
    void *data = step->kind == PLAN_TAKE ? schedule->beside : schedule->mine;
    const int64_t bytes = schedule->call.collective == COLL_IBARRIER ? 1 : schedule->call.bytes;
    return fabric_begin(&fabric, data, (MPI_Count)bytes, MPI_BYTE,
                        route->ranks != NULL ? route->ranks[step->peer] : step->peer,
                        route->tags + number * SCHEDULES + (int)(schedule->number % SCHEDULES), sends,
                        &schedule->request[schedule->under_way++]);
}

static int take_step(struct schedule *schedule)
{
    const struct plan_step *step = &schedule->plan.step[schedule->at++];
    const struct reduction *reduction = &schedule->call.reduction;
    if (step->peer >= 0)
        return message(schedule, step);
    if (schedule->call.collective == COLL_IBARRIER || step->kind == PLAN_WAIT)
        return MPI_SUCCESS;
    if (step->kind == PLAN_COMBINE_LEFT)
        reduction->combine(reduction, schedule->beside, schedule->mine, schedule->mine, schedule->call.count);
    else
        reduction->combine(reduction, schedule->mine, schedule->beside, schedule->mine, schedule->call.count);
    return MPI_SUCCESS;
}

/* What is under way is through: *through. */
static int ask(struct schedule *schedule, int *through)
{
    *through = true;
    if (schedule->under_way == 0)
        return MPI_SUCCESS;
    return PMPI_Testall(schedule->under_way, schedule->request, through, MPI_STATUSES_IGNORE);
}

/* Messages under way are taken back: their memory is the program's again. */
static void give_up(struct schedule *schedule, int error)
{
    for (int i = 0; i < schedule->under_way; i++)
        if (schedule->request[i] != MPI_REQUEST_NULL)
            fabric_abandon(&schedule->request[i], error);
    schedule->under_way = 0;
}

bool schedule_move(struct schedule *schedule, bool may_begin, int *error)
{
    *error = wait_outcome(schedule->comm);
    if (!schedule->has_begun && !may_begin && *error == MPI_SUCCESS)
        return false;
    if (!schedule->has_begun && *error == MPI_SUCCESS)
        begin(schedule);
    while (*error == MPI_SUCCESS) {
        int through;
        const bool is_end = schedule->at == schedule->plan.count;
        const bool waits = is_end || schedule->plan.step[schedule->at].kind == PLAN_WAIT;
        if (waits && ((*error = ask(schedule, &through)) != MPI_SUCCESS || !through))
            break;
        schedule->under_way = waits ? 0 : schedule->under_way;
        if (is_end)
            return true;
        *error = take_step(schedule);
    }
    if (*error == MPI_SUCCESS)
        return false;
    failure_found(schedule->comm->fabric.failure, *error);
    give_up(schedule, *error);
    return true;
}

int schedule_run(struct coll_comm *comm, const struct call *call)
{
    const struct schedule_route route = {.comm = comm->fabric.comm, .tags = comm->fabric.tags + FABRIC_LATER};
    struct schedule schedule;
    unsigned turn = 0;
    int error;
    schedule_make(&schedule, comm, route, call);
    schedule.number = 0; /* there is one at a time, by one tag */
    while (!schedule_move(&schedule, true, &error))
        wait_turn(comm, &turn);
    schedule_free(&schedule);
    return error;
}
