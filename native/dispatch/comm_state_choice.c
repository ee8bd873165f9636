/* What serves on a communicator: rules, costs or the program itself say it, and all its peers alike. */
#include "dispatch.h"
#include "duplicates.h"
#include "job.h"
#include "node/kept.h"
#include "ordered.h"
#include "peers.h"
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
    uint64_t chosen;
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

static void make_choice(struct comm_state *state, enum collective collective, struct choice *choice)
{
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
    if (alone || (choices->chosen >> collective & 1) == 0) {
        struct choice made = {0};
        make_choice(state, collective, &made);
        state->choice[collective] = made;
        if (alone) {
            state->own |= UINT64_C(1) << collective;
        } else {
            choices->choice[collective] = made;
            choices->chosen |= UINT64_C(1) << collective;
        }
    } else
        state->choice[collective] = choices->choice[collective];
    state->chosen |= UINT64_C(1) << collective;
}

/* Whether anything of ours serves it at any size. */
static bool is_chosen(struct comm_state *state, enum collective collective)
{
    if ((state->chosen >> collective & 1) == 0)
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

bool comm_state_wants_posts(struct comm_state *state)
{
    bool any = false;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES && !any; i++)
        any = is_chosen(state, (enum collective)i);
    return any;
}

const struct range *comm_state_range(struct comm_state *state, enum collective collective, int64_t bytes)
{
    if (__builtin_expect((state->chosen >> collective & 1) == 0, false))
        choose(state, collective);
    return choice_at(&state->choice[collective], bytes);
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
    if (state->own >> collective & 1)
        choice_free(&state->choice[collective]);
    state->own &= ~(UINT64_C(1) << collective);
    state->chosen &= ~(UINT64_C(1) << collective);
    state->choice[collective] = *choice;
    if (collective < COLLECTIVES_BLOCKING)
        state->last[collective].implementation = NULL;
    if (choice->count > 0) {
        state->chosen |= UINT64_C(1) << collective;
        state->own |= UINT64_C(1) << collective;
    }
}
