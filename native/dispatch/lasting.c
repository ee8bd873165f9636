#include "lasting.h"

#include "aside.h"
#include "by_message.h"
#include "job.h"
#include "moving.h"
#include "numbers.h"
#include "peers.h"
#include "reserve.h"
#include "scheduled.h"
#include "threads.h"
#include "wishes.h"

/* What requests of a communicator have in common. It may end before they do. */
struct lasting_place {
    struct coll_comm *comm;
    struct schedule_route route; /* without tags */
    int users;
};

struct lasting {
    struct moving moving; /* the first: what moves it on knows of it */
    struct lasting_place *place;
    int number, error;
    bool is_over, is_left; /* the program has freed it */
    void *sent, *received; /* that it may be using after that */
    struct parts *parts;   /* so */
};

static struct numbers numbers; /* that requests of this process have */

static bool reduce(const struct comm_state *state, const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op)
{
    struct aside aside;
    aside_step(state->user, &aside);
    const int error = PMPI_Allreduce(mine, all, count, type, op, state->user);
    aside_back(state->user, &aside);
    return error == MPI_SUCCESS;
}

/* A number that is free on all ranks. KEPT_TAGS or more, on all of them: none. */
static int agree(const struct comm_state *state)
{
    const int first = reserve_is_touched() ? KEPT_TAGS : numbers.first_free;
    const int mine[] = {first, -first, numbers.end};
    int all[3];
    uint64_t shown[NUMBERS_WORDS], taken[NUMBERS_WORDS];
    if (!reduce(state, mine, all, 3, MPI_INT, MPI_MAX))
        return KEPT_TAGS;
    if (all[0] >= KEPT_TAGS || all[0] == -all[1])
        return all[0];
    numbers_show(&numbers, all[0], shown);
    if (!reduce(state, shown, taken, NUMBERS_WORDS, MPI_UINT64_T, MPI_BOR))
        return KEPT_TAGS;
    return numbers_common(all[0], taken, all[2]);
}

static bool may_begin(const struct moving *moving)
{
    (void)moving;
    return true; /* the start before it was over on this rank, and messages by its tag keep their order */
}

static void leave_place(struct lasting_place *place)
{
    if (place == NULL || --place->users > 0)
        return;
    coll_comm_free(place->comm);
    reserve_put(place);
}

static void discard(struct lasting *lasting)
{
    numbers_give(&numbers, lasting->number);
    schedule_free(&lasting->moving.schedule);
    leave_place(lasting->place);
    reserve_put(lasting->sent);
    reserve_put(lasting->received);
    parts_free(lasting->parts);
    reserve_put(lasting);
}

static void finish(struct moving *moving, int error)
{
    struct lasting *lasting = (struct lasting *)moving;
    lasting->is_over = true;
    lasting->error = error;
    schedule_again(&moving->schedule);
    if (lasting->is_left)
        discard(lasting);
}

/* Whether anything of ours may serve there: the same on all ranks. Local. */
static bool is_possible(struct comm_state *state)
{
    if (!scheduled_is_allowed() || !nonblocking_is_wanted_on(state) || state->is_nowhere)
        return false;
    state->is_nowhere = !comm_state_find_place(state);
    return !state->is_nowhere && state->peers->topology.nodes > 1 &&
           (state->ours != NULL ? state->ours->served : by_message_world() != MPI_COMM_NULL) &&
           comm_state_wants_lasting(state);
}

/* As schedules of nonblocking calls: on the private communicator, or where there is none on the world's. */
static struct lasting_place *make_place(const struct comm_state *state)
{
    struct peers *peers = state->ours != NULL ? state->ours->peers : state->peers;
    struct coll_comm *comm = coll_comm_alone(peers);
    if (comm == NULL)
        return NULL;
    if (job.has_costs)
        comm->costs = job.costs;
    struct lasting_place *place = reserve_get(sizeof *place);
    *place = (struct lasting_place){.comm = comm, .users = 1};
    place->route.comm = state->ours != NULL ? state->ours->fabric.comm : by_message_world();
    place->route.ranks = state->ours != NULL ? NULL : peers->world;
    return place;
}

const struct coll_comm *lasting_comm(struct comm_state *state)
{
    if (state->lasting != NULL || state->lasting_refused)
        return state->lasting != NULL ? state->lasting->comm : NULL;
    if (!is_possible(state))
        return NULL;
    /* What goes on in a session may do so after MPI_Finalize, which ends all of ours. */
    const bool outlives = state->user != MPI_COMM_WORLD && threads_has_session();
    struct lasting_place *place = reserve_is_touched() || outlives ? NULL : make_place(state);
    int mine = place != NULL, all = 0;
    state->lasting_refused = !reduce(state, &mine, &all, 1, MPI_INT, MPI_MIN) || !all;
    if (!state->lasting_refused)
        state->lasting = place;
    else
        leave_place(place);
    return state->lasting != NULL ? state->lasting->comm : NULL;
}

void lasting_end(struct comm_state *state)
{
    leave_place(state->lasting);
    state->lasting = NULL;
}

struct lasting *lasting_make(struct comm_state *state)
{
    const int number = agree(state);
    if (number >= KEPT_TAGS)
        return NULL;
    struct lasting *lasting = reserve_get(sizeof *lasting);
    numbers_take(&numbers, number);
    *lasting = (struct lasting){.moving = {.may_begin = may_begin, .end = finish}, .number = number, .is_over = true};
    lasting->place = state->lasting;
    lasting->place->users++;
    return lasting;
}

struct coll_comm *lasting_of(const struct lasting *lasting)
{
    return lasting->place->comm;
}

void lasting_set(struct lasting *lasting, const struct call *call, const struct wish *wish)
{
    struct call told = *call;
    int64_t *lengths = wish_lengths(wish, lasting->place->comm->ranks);
    told.send_bytes = lengths != NULL ? lengths : told.send_bytes;
    struct schedule_route route = lasting->place->route;
    route.tags = by_message_kept_tags() + lasting->number;
    schedule_make(&lasting->moving.schedule, lasting->place->comm, route, &told);
    lasting->moving.schedule.number = 0; /* its tag is the first, at each start */
    reserve_put(lengths);
}

void lasting_start(struct lasting *lasting)
{
    lasting->is_over = false;
    moving_start(&lasting->moving);
}

bool lasting_is_over(struct lasting *lasting, int *error)
{
    if (!lasting->is_over)
        moving_move();
    *error = lasting->error;
    return lasting->is_over;
}

void lasting_leave(struct lasting *lasting, void *sent, void *received, struct parts *parts)
{
    lasting->parts = parts;
    lasting->sent = sent;
    lasting->received = received;
    lasting->is_left = true;
    if (lasting->is_over)
        discard(lasting);
}
