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
    case COLL_IEXSCAN: return 3 * bytes;
    case COLL_IREDUCE_SCATTER:
    case COLL_ISCAN: return 2 * bytes;
    case COLL_IREDUCE_SCATTER_BLOCK: return 2 * (topology->ranks * bytes);
    case COLL_IALLGATHERV:
    case COLL_IGATHER:
    case COLL_ISCATTER: return topology->ranks * bytes;
    case COLL_IALLTOALL: return 2 * topology->most * (topology->ranks * bytes);
    default: return 0;
    }
}

/* Of an iallgatherv's blocks the program has each where it wants; of an ireduce_scatter's one after the other. */
static void lay_out(struct schedule *schedule)
{
    const struct call *call = &schedule->call;
    const struct topology *topology = &schedule->comm->topology;
    const bool gathers = call->collective == COLL_IALLGATHERV;
    const int64_t *bytes = gathers ? call->receive_bytes : call->send_bytes;
    const int ranks = topology->ranks;
    schedule->edge = reserve_get((size_t)(2 * ranks + 1) * sizeof *schedule->edge);
    schedule->place = schedule->edge + ranks + 1;
    int64_t next = 0;
    for (int rank = 0; rank < ranks; next += bytes[rank++])
        schedule->place[rank] = gathers ? call->receive_at[rank] : next;
    for (int i = 0; i < ranks; i++)
        schedule->edge[i + 1] = schedule->edge[i] + bytes[topology->members[i]];
}

void schedule_make(struct schedule *schedule, struct coll_comm *comm, struct schedule_route route,
                   const struct call *call)
{
    *schedule = (struct schedule){.comm = comm, .route = route, .call = *call, .number = comm->schedules++};
    schedule->plan = plan_make(&comm->topology, call->collective, call->root);
    schedule->request = reserve_get((size_t)(schedule->plan.most + 1) * sizeof *schedule->request);
    if (call->collective == COLL_IALLGATHERV || call->collective == COLL_IREDUCE_SCATTER)
        lay_out(schedule);
}

void schedule_free(struct schedule *schedule)
{
    plan_free(&schedule->plan);
    reserve_put(schedule->request);
    reserve_put(schedule->made);
    reserve_put(schedule->edge);
    schedule->request = NULL;
    schedule->made = NULL;
    schedule->edge = NULL;
}

/* So many blocks from number `at` on. */
static int64_t bytes_of(const struct schedule *schedule, int at, int blocks)
{
    return schedule->edge != NULL ? schedule->edge[at + blocks] - schedule->edge[at] : blocks * schedule->call.bytes;
}

void schedule_again(struct schedule *schedule)
{
    const int64_t kept_most = 1 << 16; /* which costs more to make than to use */
    const int64_t made = bytes_of(schedule, 0, schedule->plan.mine) + bytes_of(schedule, 0, schedule->plan.beside) +
                         (plan_lays_out(schedule->call.collective) ? 0 : schedule->call.bytes);
    schedule->at = 0;
    schedule->under_way = 0;
    schedule->has_begun = false;
    if (made <= kept_most)
        return;
    reserve_put(schedule->made);
    schedule->made = NULL;
}

/* Whether what an iallgatherv gathers is where the program wants it, in our order: then it is gathered there. */
static bool is_laid_out(const struct schedule *schedule)
{
    const struct topology *topology = &schedule->comm->topology;
    const int64_t *place = schedule->place, *edge = schedule->edge;
    bool is = schedule->call.collective == COLL_IALLGATHERV && topology->in_order;
    for (int i = 1; i < topology->ranks && is; i++)
        is = edge[i + 1] == edge[i] || place[i] - place[0] == edge[i];
    return is && edge[1] > 0;
}

/* Of those that say what memory they take. */
static void begin_laid_out(struct schedule *schedule)
{
    const struct plan *plan = &schedule->plan;
    const bool is_there = is_laid_out(schedule);
    const size_t mine = is_there ? 0 : (size_t)bytes_of(schedule, 0, plan->mine),
                 beside = (size_t)bytes_of(schedule, 0, plan->beside);
    if (schedule->made == NULL && mine + beside > 0)
        schedule->made = reserve_get(mine + beside);
    schedule->mine = is_there         ? (char *)schedule->call.receive + schedule->place[0]
                     : plan->mine > 0 ? schedule->made
                                      : schedule->call.receive;
    schedule->beside = plan->beside > 0 ? (char *)schedule->made + mine : NULL;
}

/* The vectors. What is sent and combined nowhere is sent from where the program has it. */
static void begin(struct schedule *schedule)
{
    const struct call *call = &schedule->call;
    const bool combines = schedule->plan.combines, gets = call->receive != NULL;
    const size_t bytes = (size_t)call->bytes;
    schedule->has_begun = true;
    if (plan_lays_out(call->collective)) {
        begin_laid_out(schedule);
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

/* Bytes of so many blocks there. Where lengths are unlike, the program's are this rank's own, or all. */
static int64_t length(const struct schedule *schedule, struct plan_place place, int blocks)
{
    const struct topology *topology = &schedule->comm->topology;
    const bool is_ours = place.where == PLAN_MINE || place.where == PLAN_BESIDE;
    const int own = topology->first[topology->node] + topology->local;
    return bytes_of(schedule, blocks == 1 && !is_ours ? own : place.at, blocks);
}

static char *memory(const struct schedule *schedule, struct plan_place place)
{
    char *const memories[] = {[PLAN_MINE] = schedule->mine,
                              [PLAN_BESIDE] = schedule->beside,
                              [PLAN_GIVEN] = (char *)(uintptr_t)schedule->call.send,
                              [PLAN_GOT] = schedule->call.receive};
    return place.at == 0 ? memories[place.where] : memories[place.where] + bytes_of(schedule, 0, place.at);
}

/* Of no bytes there is none: both know. */
static int message(struct schedule *schedule, const struct plan_step *step)
{
    const struct schedule_route *route = &schedule->route;
    const struct fabric fabric = {.comm = route->comm, .failure = schedule->comm->fabric.failure};
    const bool sends = step->kind == PLAN_SEND;
    const int receiver = sends ? step->peer : schedule->comm->rank;
    const int number = route->number != NULL ? route->number[receiver] : 0;
    const int64_t bytes = schedule->call.collective == COLL_IBARRIER ? 1 : length(schedule, step->place, step->blocks);
    if (bytes == 0)
        return MPI_SUCCESS;
    return fabric_begin(&fabric, memory(schedule, step->place), (MPI_Count)bytes, MPI_BYTE,
                        route->ranks != NULL ? route->ranks[step->peer] : step->peer,
                        route->tags + number * SCHEDULES + (int)(schedule->number % SCHEDULES), sends,
                        &schedule->request[schedule->under_way++]);
}

/* Rows of blocks; in place a block may be where it is to be, and a root gets none of its own. */
static void copy(const struct schedule *schedule, const struct plan_step *step)
{
    const int64_t bytes = schedule->call.bytes, row = length(schedule, step->place, step->blocks);
    if ((step->to.where == PLAN_GOT && schedule->call.receive == NULL) || row == 0)
        return;
    const char *from = memory(schedule, step->place);
    char *to = memory(schedule, step->to);
    for (int i = 0; i < step->rows; i++, from += step->stride * bytes, to += step->to_stride * bytes)
        if (from != to)
            memcpy(to, from, (size_t)row);
}

/* A block for each rank: `members` are the ranks in our order. */
static void reorder(const struct schedule *schedule, const struct plan_step *step)
{
    const struct topology *topology = &schedule->comm->topology;
    const bool by_node = step->kind == PLAN_BY_NODE;
    const char *from = memory(schedule, step->place);
    char *to = memory(schedule, step->to);
    if (topology->in_order && schedule->edge == NULL) {
        memcpy(to, from, (size_t)bytes_of(schedule, 0, topology->ranks));
        return;
    }
    for (int i = 0; i < topology->ranks; i++) {
        const int rank = topology->members[i];
        const int64_t bytes = bytes_of(schedule, i, 1), ours = bytes_of(schedule, 0, i),
                      its = schedule->edge != NULL ? schedule->place[rank] : rank * bytes;
        const char *source = from + (by_node ? its : ours);
        char *target = to + (by_node ? ours : its);
        if (bytes > 0 && source != target)
            memcpy(target, source, (size_t)bytes);
    }
}

/* At the same place of one vector, or of one block. */
static void combine(const struct schedule *schedule, const struct plan_step *step)
{
    const struct reduction *reduction = &schedule->call.reduction;
    const void *with = memory(schedule, step->place);
    void *into = memory(schedule, step->to);
    const int64_t count = length(schedule, step->place, step->blocks) / reduction->element;
    if (count > 0 && step->kind == PLAN_COMBINE_LEFT)
        reduction->combine(reduction, with, into, into, count);
    else if (count > 0)
        reduction->combine(reduction, into, with, into, count);
}

static int take_step(struct schedule *schedule)
{
    const struct plan_step *step = &schedule->plan.step[schedule->at++];
    if (step->peer >= 0)
        return message(schedule, step);
    if (schedule->call.collective == COLL_IBARRIER || step->kind == PLAN_WAIT)
        return MPI_SUCCESS;
    if (step->kind == PLAN_COPY)
        copy(schedule, step);
    else if (step->kind == PLAN_BY_NODE || step->kind == PLAN_BY_RANK)
        reorder(schedule, step);
    else
        combine(schedule, step);
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
