/* What serves on a communicator: rules, costs or the program itself say it, and all its peers alike. */
#include "dispatch.h"
#include "duplicates.h"
#include "job.h"
#include "node/kept.h"
#include "ordered.h"
#include "peers.h"
#include "requests/plan.h"
#include "reserve.h"
#include "comm_state.h"

static bool is_forced(enum collective collective)
{
    for (int i = 0; i < job.forced.count; i++)
        if (job.forced.rule[i].collective == collective)
            return true;
    return false;
}

/* The choices of all communicators of the same ranks. */
struct choices {
    bool chosen[COLLECTIVES];
    struct choice choice[COLLECTIVES];
};

static void free_choices(void *kept)
{
    struct choices *choices = kept;
    for (int i = 0; i < COLLECTIVES; i++)
        choice_free(&choices->choice[i]);
    reserve_put(choices);
}

/* Whether ours serve without a rule. */
static bool is_by_costs(enum collective collective)
{
    return job.by_costs || ordered_keeps(collective);
}

/* Where this is served; NULL: it is the MPI library's. Collective the first time, but for nonblocking ones. */
static const struct coll_comm *where(struct comm_state *state, enum collective collective)
{
    if (collective_is_nonblocking(collective))
        return state->posted != NULL || state->keep == NULL ? state->posted : state->keep->comm;
    return comm_state_equip(state) ? state->ours : NULL;
}

static void make_choice_init(struct comm_state *state, enum collective collective, struct choice *choice);

static void make_choice(struct comm_state *state, enum collective collective, struct choice *choice)
{
    if (collective_is_persistent(collective)) {
        make_choice_init(state, collective, choice);
        return;
    }
    struct choice by_costs = {0};
    const struct coll_comm *comm;
    if (is_forced(collective)) {
        choice_from_rules(choice, &job.forced, collective, &state->place, NULL, ordered_keeps(collective));
    } else if (job.is_on || ordered_keeps(collective)) {
        if (is_by_costs(collective) && (comm = where(state, collective)) != NULL)
            choice_from_costs(&by_costs, comm, collective, ordered_keeps(collective));
        choice_from_rules(choice, &job.rules, collective, &state->place, &by_costs, ordered_keeps(collective));
        choice_free(&by_costs);
    }
}

/* What is forced comes before rules, whichever form it is of. Where nothing speaks of this form, the nonblocking one's. */
static void make_choice_init(struct comm_state *state, enum collective collective, struct choice *choice)
{
    struct choice started = {0};
    if (is_forced(collective)) {
        choice_from_rules(choice, &job.forced, collective, &state->place, NULL, false);
        return;
    }
    make_choice(state, collective_started(collective), &started);
    if (is_forced(collective_started(collective)) || !job.is_on) {
        *choice = started;
        return;
    }
    choice_from_rules(choice, &job.rules, collective, &state->place, &started, false);
    choice_free(&started);
}

/* The same on all ranks. */
static void choose(struct comm_state *state, enum collective collective)
{
    const struct coll_comm *comm;
    /* Where there is no memory to share any more, costs are this communicator's affair alone. */
    bool alone = is_by_costs(collective) && !is_forced(collective) &&
                 ((comm = where(state, collective)) == NULL || !comm->served);
    struct peers *peers = state->peers;
    struct choices *choices = peers->kept;
    if (choices == NULL) {
        choices = peers->kept = reserve_get(sizeof *choices);
        peers->kept_free = free_choices;
    }
    if (alone || !choices->chosen[collective]) {
        struct choice made = {0};
        make_choice(state, collective, &made);
        state->choice[collective] = made;
        if (alone) {
            state->own[collective] = true;
        } else {
            choices->choice[collective] = made;
            choices->chosen[collective] = true;
        }
    } else
        state->choice[collective] = choices->choice[collective];
    state->chosen[collective] = true;
}

/* Whether anything of ours serves it at any size. */
static bool is_chosen(struct comm_state *state, enum collective collective)
{
    if (!state->chosen[collective])
        choose(state, collective);
    return state->choice[collective].count > 0;
}

bool comm_state_wants(struct comm_state *state)
{
    bool any = job.by_costs || ordered_order() != ORDER_FREE;
    for (int i = 0; i < COLLECTIVES_BLOCKING && !any; i++)
        any = is_chosen(state, (enum collective)i);
    return any;
}

bool comm_state_wants_schedules(struct comm_state *state)
{
    bool any = false;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES && !any; i++)
        any = plan_is_there((enum collective)i) && is_chosen(state, (enum collective)i);
    return any;
}

bool comm_state_wants_lasting(struct comm_state *state)
{
    bool any = false;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES && !any; i++)
        any = plan_is_there(collective_started((enum collective)i)) && is_chosen(state, (enum collective)i);
    return any;
}

bool comm_state_wants_posts(struct comm_state *state)
{
    bool any = false;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES && !any; i++)
        any = is_chosen(state, (enum collective)i);
    return any;
}

const struct range *comm_state_range(struct comm_state *state, enum collective collective, int64_t bytes)
{
    if (__builtin_expect(!state->chosen[collective], false))
        choose(state, collective);
    return choice_at(&state->choice[collective], bytes);
}

const struct range *comm_state_range_init(struct comm_state *state, enum collective collective, int64_t bytes)
{
    const enum collective started = collective_started(collective);
    return comm_state_range(state, state->asked[started] && !state->asked[collective] ? started : collective, bytes);
}

MPI_Comm comm_state_duplicate(struct comm_state *state, const struct implementation *implementation)
{
    for (int i = 0; i < state->duplicates; i++)
        if (duplicates_same(state->duplicate[i].implementation, implementation))
            return state->duplicate[i].comm;
    if (state->duplicates == DUPLICATES_MOST)
        return MPI_COMM_NULL;
    struct duplicate *made = &state->duplicate[state->duplicates++];
    made->implementation = implementation;
    bool aside = dispatch_aside(true);
    made->comm = duplicates_make(state->ours, implementation);
    dispatch_aside(aside);
    peers_added(made->comm != MPI_COMM_NULL);
    return made->comm;
}

void comm_state_force(struct comm_state *state, enum collective collective, struct choice *choice)
{
    if (state->own[collective])
        choice_free(&state->choice[collective]);
    state->choice[collective] = *choice;
    if (collective < COLLECTIVES_BLOCKING)
        state->last[collective].implementation = NULL;
    state->chosen[collective] = state->own[collective] = state->asked[collective] = choice->count > 0;
}
