#include "schedule.h"

#include <string.h>

#include "../failure.h"
#include "../node/wait.h"
#include "../reserve.h"

bool schedule_applies(const struct coll_comm *comm, enum collective collective, const struct shape *shape)
{
    return comm->topology.nodes > 1 && plan_is_there(collective) && shape->commutative && !shape->ordered &&
           (collective != COLL_IALLTOALL || comm->topology.nodes <= PLAN_ALLTOALL_NODES);
}

int64_t schedule_scratch(const struct coll_comm *comm, enum collective collective, int64_t bytes)
{
    const struct topology *topology = &comm->topology;
    switch (collective) {
    case COLL_IREDUCE: return 2 * bytes;
    case COLL_IALLREDUCE: return bytes;
    case COLL_IALLGATHER: return topology->in_order ? 0 : topology->ranks * bytes;
    case COLL_IGATHER:
    case COLL_ISCATTER: return topology->ranks * bytes;
    case COLL_IALLTOALL: return 2 * topology->most * (topology->ranks * bytes);
    default: return 0;
    }
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
    const int64_t made = (1 + schedule->plan.mine + schedule->plan.beside) * schedule->call.bytes;
    schedule->at = 0;
    schedule->under_way = 0;
    schedule->has_begun = false;
    if (made <= kept_most)
        return;
    reserve_put(schedule->made);
    schedule->made = NULL;
}

/* Of blocks. */
static void begin_blocks(struct schedule *schedule)
{
    const struct plan *plan = &schedule->plan;
    const size_t bytes = (size_t)schedule->call.bytes, mine = (size_t)plan->mine * bytes;
    if (schedule->made == NULL && plan->mine + plan->beside > 0)
        schedule->made = reserve_get(mine + (size_t)plan->beside * bytes);
    schedule->mine = plan->mine > 0 ? schedule->made : schedule->call.receive;
    schedule->beside = plan->beside > 0 ? (char *)schedule->made + mine : NULL;
}

/* The vectors. What is sent and combined nowhere is sent from where the program has it. */
static void begin(struct schedule *schedule)
{
    const struct call *call = &schedule->call;
    const bool combines = schedule->plan.combines, gets = call->receive != NULL;
    const size_t bytes = (size_t)call->bytes;
    schedule->has_begun = true;
    if (plan_is_of_blocks(call->collective)) {
        begin_blocks(schedule);
        return;
    }
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

/* Where that is, in bytes. */
static char *memory(const struct schedule *schedule, struct plan_place place)
{
    char *const memories[] = {[PLAN_MINE] = schedule->mine,
                              [PLAN_BESIDE] = schedule->beside,
                              [PLAN_GIVEN] = (char *)(uintptr_t)schedule->call.send,
                              [PLAN_GOT] = schedule->call.receive};
    return memories[place.where] + place.at * schedule->call.bytes;
}

static int message(struct schedule *schedule, const struct plan_step *step)
{
    const struct schedule_route *route = &schedule->route;
    const struct fabric fabric = {.comm = route->comm, .failure = schedule->comm->fabric.failure};
    const bool sends = step->kind == PLAN_SEND;
    const int receiver = sends ? step->peer : schedule->comm->rank;
    const int number = route->number != NULL ? route->number[receiver] : 0;
    const int64_t bytes = schedule->call.collective == COLL_IBARRIER ? 1 : step->blocks * schedule->call.bytes;
    return fabric_begin(&fabric, memory(schedule, step->place), (MPI_Count)bytes, MPI_BYTE,
                        route->ranks != NULL ? route->ranks[step->peer] : step->peer,
                        route->tags + number * SCHEDULES + (int)(schedule->number % SCHEDULES), sends,
                        &schedule->request[schedule->under_way++]);
}

/* Rows of blocks; in place a block may be where it is to be, and a root gets none of its own. */
static void copy(const struct schedule *schedule, const struct plan_step *step)
{
    const int64_t bytes = schedule->call.bytes;
    if (step->to.where == PLAN_GOT && schedule->call.receive == NULL)
        return;
    const char *from = memory(schedule, step->place);
    char *to = memory(schedule, step->to);
    for (int row = 0; row < step->rows; row++, from += step->stride * bytes, to += step->to_stride * bytes)
        if (from != to)
            memcpy(to, from, (size_t)(step->blocks * bytes));
}

/* A block for each rank: `members` are the ranks in our order. */
static void reorder(const struct schedule *schedule, const struct plan_step *step)
{
    const struct topology *topology = &schedule->comm->topology;
    const int64_t bytes = schedule->call.bytes;
    const char *from = memory(schedule, step->place);
    char *to = memory(schedule, step->to);
    if (topology->in_order) {
        memcpy(to, from, (size_t)(topology->ranks * bytes));
        return;
    }
    for (int i = 0; i < topology->ranks; i++) {
        const int rank = topology->members[i];
        if (step->kind == PLAN_BY_NODE)
            memcpy(to + i * bytes, from + rank * bytes, (size_t)bytes);
        else
            memcpy(to + rank * bytes, from + i * bytes, (size_t)bytes);
    }
}

static int take_step(struct schedule *schedule)
{
    const struct plan_step *step = &schedule->plan.step[schedule->at++];
    const struct reduction *reduction = &schedule->call.reduction;
    if (step->peer >= 0)
        return message(schedule, step);
    if (schedule->call.collective == COLL_IBARRIER || step->kind == PLAN_WAIT)
        return MPI_SUCCESS;
    if (step->kind == PLAN_COPY)
        copy(schedule, step);
    else if (step->kind == PLAN_BY_NODE || step->kind == PLAN_BY_RANK)
        reorder(schedule, step);
    else if (step->kind == PLAN_COMBINE_LEFT)
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
