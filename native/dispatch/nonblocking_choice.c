/* What serves calls that do not block, and the memory that is made for them where ranks meet. */
#include "by_message.h"
#include "dispatch.h"
#include "job.h"
#include "libnbc.h"
#include "node/posts.h"
#include "nonblocking.h"
#include "offer.h"
#include "ordered.h"
#include "peers.h"
#include "requests/plan.h"
#include "scheduled.h"
#include "verbose.h"

unsigned char dispatch_posts;
unsigned char dispatch_begins[COLLECTIVES];

static bool is_crowded; /* somewhere in the world: the same on all ranks */

static bool is_served_at_all(enum collective collective)
{
    return collective_is_nonblocking(collective) &&
           (job.reproducible == REPRODUCIBLE_NOT || !collective_reduces(collective));
}

bool nonblocking_is_allowed(void)
{
    return dispatch_all_complete && job.started && !job.multiple && !job.devices && !failure_tolerated();
}

bool nonblocking_reaches(const struct comm_state *state, enum collective collective)
{
    return collective < COLLECTIVES_BLOCKING || state->ours->topology.nodes == 1 || scheduled_is_possible(state);
}

/* Whether it can be begun there. */
static bool is_possible(const struct coll_comm *comm, const struct call *call)
{
    if (comm->topology.nodes > 1)
        return plan_is_there(call->collective);
    return comm->posts != NULL && posts_hold(comm, call);
}

/* Whether any names one of ours for this one, or, of COLLECTIVES, for any, of either form. */
static bool any_rule(const struct rules *rules, enum collective which)
{
    bool any = false;
    for (int i = 0; i < rules->count; i++) {
        const enum collective its = rules->rule[i].collective;
        for (int k = 0; k < rules->rule[i].count; k++)
            any = any || ((which == COLLECTIVES || which == its) && is_served_at_all(its) &&
                          rules->rule[i].implementation[k]->kind == BY_OURS);
    }
    return any;
}

const struct implementation *nonblocking_choose(struct comm_state *state, const struct coll_comm *comm,
                                                const struct call *call, enum collective named)
{
    const bool sized = call->collective != COLL_IBARRIER && !collective_has_no_size(call->collective);
    if (!is_served_at_all(call->collective) || call->bytes < 0 || (call->bytes == 0 && sized) ||
        !is_possible(comm, call))
        return NULL;
    const struct shape shape = {
        .bytes = call->bytes, .element = call->reduction.element, .commutative = true, .root = call->root};
    const struct range *range = collective_is_persistent(named) ? comm_state_range_init(state, named, call->bytes)
                                                                : comm_state_range(state, named, call->bytes);
    const struct implementation *chosen = NULL;
    for (int i = 0; range != NULL && i < range->count && chosen == NULL; i++) {
        const struct implementation *one = range->implementation[i];
        if (one->kind == BY_MPI || (one->kind == BY_LIBNBC && one->number > 0) ||
            (one->kind == BY_OURS && algorithm_applies(one->algorithm, comm, &shape)))
            chosen = one;
    }
    return chosen != NULL && chosen->kind == BY_OURS ? chosen : NULL;
}

void nonblocking_left(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    MPI_Count size = 0;
    if (!libnbc_wants(collective) && !job.verbose)
        return;
    if (count < 0 || (count > 0 && PMPI_Type_size_x(type, &size) != MPI_SUCCESS))
        return;
    const struct implementation *one = libnbc_hold(comm, collective, count * size, op);
    if (job.verbose)
        verbose_count(one != NULL ? one : implementation_mpi(collective), count * size);
}

/* Without a rule nothing serves where ranks share CPUs, as nothing is tried there (trial.h). */
static bool may_serve(enum collective which)
{
    return any_rule(&job.forced, which) ||
           (job.is_on && (any_rule(&job.rules, which) || (job.by_costs && !is_crowded)));
}

bool nonblocking_is_wanted(void)
{
    return nonblocking_is_allowed() && may_serve(COLLECTIVES);
}

bool nonblocking_is_wanted_on(const struct comm_state *state)
{
    bool any = nonblocking_is_wanted();
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES && !any; i++)
        any = state->own[i];
    return any;
}

/* Memory for the communicator: collective. */
static void prepare(struct comm_state *state)
{
    state->is_offered = true;
    if (!comm_state_equip(state) || state->ours->topology.nodes != 1 || !state->ours->served)
        return;
    int targets, sources;
    if (state->ours->posts != NULL || posts_create(state->ours))
        state->posted = state->ours;
    if (around_count(state->user, &targets, &sources))
        around_of(state);
}

void nonblocking_before_trial(struct comm_state *world)
{
    struct coll_comm *comm = world->ours;
    if (nonblocking_is_allowed() && comm->topology.nodes == 1 && comm->served && !comm->crowded)
        posts_create(comm);
}

void nonblocking_start(void)
{
    struct comm_state *world = nonblocking_is_allowed() ? comm_state_now(MPI_COMM_WORLD) : NULL;
    is_crowded = world != NULL && world->peers->crowded;
    const bool wanted = world != NULL && nonblocking_is_wanted();
    if (wanted)
        prepare(world);
    by_message_start(wanted ? world->ours : NULL);
    dispatch_posts = libnbc_start() || wanted;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES_AT_ONCE && dispatch_posts; i++)
        if (libnbc_wants((enum collective)i) || (wanted && may_serve((enum collective)i)))
            dispatch_begins[i] = BEGINS_COUNTED;
        else if (job.verbose) /* what is listed is when they would be served otherwise */
            dispatch_begins[i] = BEGINS_SEEN;
}

void nonblocking_ask(struct comm_state *state)
{
    if (!nonblocking_is_allowed())
        return;
    dispatch_posts = true;
    for (int i = COLLECTIVES_BLOCKING; i < COLLECTIVES_AT_ONCE; i++)
        dispatch_begins[i] = dispatch_begins[i] == BEGINS_NOT ? BEGINS_SEEN : dispatch_begins[i];
    if (!state->is_offered)
        prepare(state);
    else if (state->offer != NULL)
        offer_await(state);
}
