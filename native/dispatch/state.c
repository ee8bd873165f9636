#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "dispatch.h"
#include "job.h"

enum { CACHED = 32 };

static int keyval = MPI_KEYVAL_INVALID;
static uint32_t generation = 1; /* changes when a communicator is freed: its handle may be another's soon */
static struct state never;      /* the attribute of those that are not served */
static struct state *newest;    /* equipped later comes first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list */
static int equipped;

/* What this thread looked up last, and whether it is inside of our own setting up, or of a communicator's end: what is
 * called then goes on to the MPI library. */
static _Thread_local struct {
    MPI_Comm comm;
    uint32_t generation;
    struct state *state;
} cache[CACHED] __attribute__((tls_model("initial-exec")));
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

bool dispatch_aside(bool aside)
{
    bool before = inside;
    inside = aside;
    return before;
}

static void unlink_state(struct state *state)
{
    if (state->newer != NULL)
        state->newer->older = state->older;
    else if (newest == state)
        newest = state->older;
    if (state->older != NULL)
        state->older->newer = state->newer;
    state->newer = state->older = NULL;
}

static void link_newest(struct state *state)
{
    state->older = newest;
    if (newest != NULL)
        newest->newer = state;
    newest = state;
}

/* When its communicator is freed, which all ranks do. */
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct state *state = value;
    (void)comm, (void)key, (void)extra;
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    if (state == &never)
        return MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    unlink_state(state);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < state->copies; i++)
        if (state->copy[i].comm != MPI_COMM_NULL)
            PMPI_Comm_free(&state->copy[i].comm);
    for (int i = 0; i < COLLECTIVES; i++)
        choice_free(&state->choice[i]);
    if (state->ours != NULL) {
        coll_comm_free(state->ours);
        __atomic_sub_fetch(&equipped, 1, __ATOMIC_RELAXED);
    }
    free(state->vectors);
    free(state);
    return MPI_SUCCESS;
}

bool state_start(void)
{
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) == MPI_SUCCESS;
}

/* Newest first: in this order no two ranks wait for each other in two of them. */
void state_finish(void)
{
    while (newest != NULL)
        PMPI_Comm_delete_attr(newest->user, keyval);
    PMPI_Comm_free_keyval(&keyval);
}

static struct state *create(MPI_Comm comm)
{
    int inter = 1, ranks = 1;
    struct state *state = &never;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        ranks = 1;
    if (ranks > 1)
        state = calloc(1, sizeof *state);
    if (state == NULL)
        PMPI_Abort(comm, EXIT_FAILURE); /* the other ranks would wait for this one for ever */
    else if (state != &never) {
        state->user = comm;
        state->ranks = ranks;
        PMPI_Comm_rank(comm, &state->rank);
        pthread_mutex_lock(&lock);
        link_newest(state);
        pthread_mutex_unlock(&lock);
    }
    PMPI_Comm_set_attr(comm, keyval, state);
    return state;
}

/* NULL: not a communicator, or this thread is setting one up. */
static struct state *look(MPI_Comm comm)
{
    uint32_t slot = (uint32_t)((uint64_t)(uintptr_t)comm * UINT64_C(0x9e3779b97f4a7c15) >> 59);
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(inside, false)) /* first: what a rank has in its cache is its own affair */
        return NULL;
    if (cache[slot].comm == comm && cache[slot].generation == now)
        return cache[slot].state;
    struct state *state = NULL;
    int found = 0;
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS)
        return NULL;
    if (!found)
        state = create(comm);
    cache[slot].comm = comm;
    cache[slot].generation = now;
    cache[slot].state = state;
    return state;
}

/* Local: where its ranks are; false when one was not there at MPI_Init. */
static bool find_place(struct state *state)
{
    struct topology topology;
    if (!topology_create(&topology, state->user))
        return false;
    state->place.nodes = topology.nodes;
    state->place.ppn = topology.regular ? topology.most : 0;
    if (topology.cuboid.node_at != NULL) {
        state->place.dimensions = topology.cuboid.torus.dimensions;
        for (int i = 0; i < topology.cuboid.torus.dimensions; i++)
            state->place.extent[i] = topology.cuboid.torus.extent[i];
    }
    topology_free(&topology);
    return true;
}

static struct state *make_ready(struct state *state)
{
    if (state == NULL || state == &never || state->failed)
        return NULL;
    state->ready = state->ready || find_place(state);
    state->failed = !state->ready;
    return state->ready ? state : NULL;
}

struct state *state_find(MPI_Comm comm)
{
    struct state *state = look(comm);
    if (__builtin_expect(state != NULL && state->ready, true))
        return state;
    if (state == NULL || state == &never || state->failed)
        return NULL;
    if (++state->calls < CALLS_BEFORE && comm != MPI_COMM_WORLD)
        return NULL;
    return make_ready(state);
}

struct state *state_now(MPI_Comm comm)
{
    return make_ready(look(comm));
}

/* What fails in here must not meet the program's error handler, which may end the program: the handler is put aside. */
static void set_up(struct state *state, int mine)
{
    MPI_Errhandler theirs = MPI_ERRHANDLER_NULL;
    int all = 0;
    if (PMPI_Comm_get_errhandler(state->user, &theirs) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(state->user, MPI_ERRORS_RETURN);
    inside = true;
    if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, state->user) == MPI_SUCCESS && all)
        coll_comm_create(state->user, &state->ours);
    inside = false;
    PMPI_Comm_set_errhandler(state->user, theirs);
    PMPI_Errhandler_free(&theirs);
}

bool state_equip(struct state *state)
{
    if (state->ours != NULL || state->failed)
        return state->ours != NULL;
    set_up(state, __atomic_add_fetch(&equipped, 1, __ATOMIC_RELAXED) <= EQUIPPED_MOST);
    state->failed = state->ours == NULL;
    state->ready = !state->failed;
    if (state->failed) {
        __atomic_sub_fetch(&equipped, 1, __ATOMIC_RELAXED);
        return false;
    }
    if (job.has_costs)
        state->ours->costs = job.costs;
    pthread_mutex_lock(&lock);
    unlink_state(state);
    link_newest(state);
    pthread_mutex_unlock(&lock);
    return true;
}

void state_step_aside(struct state *state)
{
    state->failed = true;
    state->ready = false;
}

void dispatch_revoked(MPI_Comm comm, int (*revoke)(MPI_Comm))
{
    struct state *state = NULL;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS || !found || state == &never)
        return;
    if (state->ours != NULL)
        revoke(state->ours->comm);
    for (int i = 0; i < state->copies; i++)
        if (state->copy[i].comm != MPI_COMM_NULL)
            revoke(state->copy[i].comm);
}

static bool is_forced(enum collective collective)
{
    for (int i = 0; i < job.forced.count; i++)
        if (job.forced.rule[i].collective == collective)
            return true;
    return false;
}

/* The same on all ranks: memory that is not there ends the program. */
static void choose(struct state *state, enum collective collective)
{
    struct choice *choice = &state->choice[collective], by_costs = {0};
    bool good = true;
    if (is_forced(collective)) {
        good = choice_from_rules(choice, &job.forced, collective, &state->place, NULL);
    } else if (job.is_on) {
        if (job.by_costs && state_equip(state))
            good = choice_from_costs(&by_costs, state->ours, collective);
        good = good && choice_from_rules(choice, &job.rules, collective, &state->place, &by_costs);
        choice_free(&by_costs);
    }
    if (!good)
        PMPI_Abort(state->user, EXIT_FAILURE);
    state->chosen |= 1u << collective;
}

const struct range *state_range(struct state *state, enum collective collective, int64_t bytes)
{
    if (__builtin_expect((state->chosen >> collective & 1) == 0, false))
        choose(state, collective);
    return choice_at(&state->choice[collective], bytes);
}

void state_force(struct state *state, enum collective collective, struct choice *choice)
{
    choice_free(&state->choice[collective]);
    state->choice[collective] = *choice;
    state->last[collective].implementation = NULL;
    if (choice->count > 0)
        state->chosen |= 1u << collective;
    else
        state->chosen &= ~(1u << collective);
}

MPI_Comm state_copy(struct state *state, const struct implementation *implementation)
{
    for (int i = 0; i < state->copies; i++)
        if (copies_same(state->copy[i].implementation, implementation))
            return state->copy[i].comm;
    if (state->copies == COPIES_MOST)
        return MPI_COMM_NULL;
    struct copy *made = &state->copy[state->copies++];
    made->implementation = implementation;
    inside = true;
    made->comm = copies_make(state->ours, implementation);
    inside = false;
    return made->comm;
}

int64_t *state_vectors(struct state *state)
{
    if (state->vectors == NULL)
        state->vectors = malloc(4 * (size_t)state->ranks * sizeof *state->vectors);
    return state->vectors;
}
