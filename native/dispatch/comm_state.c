#include "comm_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dispatch.h"
#include "job.h"
#include "keeps.h"
#include "lasting.h"
#include "nonblocking.h"
#include "offer.h"
#include "ordered.h"
#include "peers.h"
#include "persistent.h"
#include "reserve.h"
#include "scheduled.h"

enum { CACHED = 32 };

static int keyval = MPI_KEYVAL_INVALID;
static uint32_t generation = 1;   /* changes when a communicator is freed: its handle may be another's soon */
static struct comm_state *newest; /* equipped later comes first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list */
static bool is_patient;

/* What this thread looked up last, and whether it is inside of our own setting up, or of a communicator's end: what is
 * called then goes on to the MPI library. */
static _Thread_local struct {
    MPI_Comm comm;
    uint32_t generation;
    struct comm_state *state;
} cache[CACHED] __attribute__((tls_model("initial-exec")));
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

bool dispatch_aside(bool aside)
{
    bool before = inside;
    inside = aside;
    return before;
}

static void unlink_state(struct comm_state *state)
{
    if (state->newer != NULL)
        state->newer->older = state->older;
    else if (newest == state)
        newest = state->older;
    if (state->older != NULL)
        state->older->newer = state->newer;
    state->newer = state->older = NULL;
}

static void link_newest(struct comm_state *state)
{
    state->older = newest;
    if (newest != NULL)
        newest->newer = state;
    newest = state;
}

/* When its communicator is freed, which all ranks do. An offer that is still there was not waited for, as the communicator
 * was freed without our knowing of it. */
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct comm_state *state = value;
    (void)comm, (void)key, (void)extra;
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&lock);
    unlink_state(state);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < state->duplicates; i++)
        if (state->duplicate[i].comm != MPI_COMM_NULL) {
            PMPI_Comm_free(&state->duplicate[i].comm);
            peers_added(-1);
        }
    for (int i = 0; i < COLLECTIVES; i++)
        if (state->own[i])
            choice_free(&state->choice[i]);
    nonblocking_end(state);
    scheduled_end(state);
    offer_leave(state);
    persistent_end(state->user);
    keeps_leave(state->keep);
    lasting_end(state);
    if (state->posted != state->ours)
        coll_comm_free(state->posted);
    coll_comm_free(state->ours);
    if (state->peers != NULL)
        peers_leave(state->peers);
    if (state->former != NULL)
        peers_leave(state->former);
    reserve_put(state->vectors);
    reserve_put(state->device);
    reserve_put(state->layouts);
    around_free(state->around);
    reserve_put(state);
    return MPI_SUCCESS;
}

bool comm_state_start(void)
{
    const char *patience = getenv("UNISONO_PATIENCE");
    is_patient = job.forced.count == 0 && (patience == NULL || strcmp(patience, "0") != 0) &&
                 job.reproducible != REPRODUCIBLE_RUNS; /* which waits for time to pass */
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) == MPI_SUCCESS;
}

/* Collective: what is kept with it goes. */
static void end(MPI_Comm comm, struct comm_state *state)
{
    bool aside = dispatch_aside(true);
    scheduled_await(state);
    if (offer_end(state))
        PMPI_Comm_delete_attr(comm, keyval);
    dispatch_aside(aside);
}

/* Newest first: in this order no two ranks wait for each other in two of them. */
void comm_state_finish(void)
{
    while (newest != NULL)
        end(newest->user, newest);
    PMPI_Comm_free_keyval(&keyval);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Most communicators are never looked at again: no more than an attribute. */
static struct comm_state *create(MPI_Comm comm)
{
    struct comm_state *state = reserve_get(sizeof *state);
    state->user = comm;
    state->begun = now();
    state->look_at = comm == MPI_COMM_WORLD ? 1 : is_patient ? LOOK_FIRST : CALLS_BEFORE;
    pthread_mutex_lock(&lock);
    link_newest(state);
    pthread_mutex_unlock(&lock);
    PMPI_Comm_set_attr(comm, keyval, state);
    return state;
}

/* NULL: not a communicator, or this thread is setting one up. */
static struct comm_state *look(MPI_Comm comm)
{
    uint32_t slot = (uint32_t)((uint64_t)(uintptr_t)comm * UINT64_C(0x9e3779b97f4a7c15) >> 59);
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(inside, false)) /* first: what a rank has in its cache is its own affair */
        return NULL;
    if (cache[slot].comm == comm && cache[slot].generation == now)
        return cache[slot].state;
    struct comm_state *state = NULL;
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

/* Local: where its ranks are; false when it is between groups or of one rank, or when a rank was not there at MPI_Init. */
static bool find_place(struct comm_state *state)
{
    int inter = 1;
    if (PMPI_Comm_test_inter(state->user, &inter) != MPI_SUCCESS || inter)
        return false;
    PMPI_Comm_size(state->user, &state->ranks);
    PMPI_Comm_rank(state->user, &state->rank);
    if (state->ranks == 1)
        return false;
    if (state->peers == NULL)
        state->peers = peers_find(state->user);
    if (state->peers == NULL)
        return false;
    const struct topology *topology = &state->peers->topology;
    state->place.topology = topology;
    state->place.nodes = topology->nodes;
    state->place.ppn = topology->regular ? topology->most : 0;
    if (topology->cuboid.node_at != NULL) {
        state->place.dimensions = topology->cuboid.torus.dimensions;
        for (int i = 0; i < topology->cuboid.torus.dimensions; i++)
            state->place.extent[i] = topology->cuboid.torus.extent[i];
    }
    return true;
}

static struct comm_state *make_ready(struct comm_state *state)
{
    if (state == NULL || state->failed)
        return NULL;
    state->ready = state->ready || find_place(state);
    state->failed = !state->ready;
    return state->ready ? state : NULL;
}

/* Choices made before are the former peers', and may be in use right now. */
static void change_peers(struct comm_state *state, struct peers *before)
{
    state->place.topology = &state->peers->topology;
    if (state->peers == before) {
        before->users--;
        return;
    }
    if (state->former != NULL)
        peers_leave(state->former);
    state->former = before;
    for (int i = 0; i < COLLECTIVES; i++)
        if (!state->own[i]) {
            state->choice[i] = (struct choice){0};
            state->chosen[i] = false;
        }
}

/* What fails in here must not meet the program's error handler, which may end the program: the handler is put aside. */
static int set_up(struct comm_state *state, int64_t lived)
{
    MPI_Errhandler theirs = MPI_ERRHANDLER_NULL;
    int error = PMPI_Comm_get_errhandler(state->user, &theirs);
    if (error != MPI_SUCCESS)
        return error;
    bool aside = dispatch_aside(true);
    PMPI_Comm_set_errhandler(state->user, MPI_ERRORS_RETURN);
    error = coll_comm_join(&state->peers, state->user, lived, &state->ours);
    PMPI_Comm_set_errhandler(state->user, theirs);
    PMPI_Errhandler_free(&theirs);
    dispatch_aside(aside);
    return error;
}

/* Collective. False: it cannot be, or is too early. */
static bool equip(struct comm_state *state, int64_t lived)
{
    struct peers *before = state->peers;
    before->users++;
    int error = set_up(state, lived);
    change_peers(state, before);
    state->failed = error != MPI_SUCCESS;
    state->ready = state->ours != NULL;
    if (state->ours == NULL)
        return false;
    state->device = reserve_get(COLLECTIVES_BLOCKING * sizeof *state->device);
    if (job.has_costs)
        state->ours->costs = job.costs;
    pthread_mutex_lock(&lock);
    unlink_state(state);
    link_newest(state);
    pthread_mutex_unlock(&lock);
    return true;
}

bool comm_state_equip(struct comm_state *state)
{
    return state->ours != NULL || (!state->failed && equip(state, PEERS_NOW));
}

void comm_state_step_aside(struct comm_state *state)
{
    state->failed = true;
    state->ready = false;
}

void dispatch_ends(MPI_Comm comm)
{
    struct comm_state *state = NULL;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL || inside ||
        PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS || !found)
        return;
    end(comm, state);
}

void dispatch_revoked(MPI_Comm comm, int (*revoke)(MPI_Comm))
{
    struct comm_state *state = NULL;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS || !found)
        return;
    if (state->ours != NULL)
        revoke(state->ours->comm);
    for (int i = 0; i < state->duplicates; i++)
        if (state->duplicate[i].comm != MPI_COMM_NULL)
            revoke(state->duplicate[i].comm);
}

/* Its turn to be looked at. */
static void look_again(struct comm_state *state)
{
    if (!is_patient || state->user == MPI_COMM_WORLD) {
        make_ready(state);
        return;
    }
    bool known = state->peers != NULL || find_place(state);
    if (!known || !comm_state_wants(state)) {
        state->failed = !known;
        state->ready = known;
        return;
    }
    const int64_t before = state->begun;
    state->begun = now(); /* what was before is counted by its peers from here on */
    if (!equip(state, state->begun - before))
        state->look_at = state->look_at < INT32_MAX / LOOK_AGAIN ? LOOK_AGAIN * state->look_at : INT32_MAX;
}

/* Nothing of ours serves it at any size, and nobody wants to know of it: what the arguments are need not be looked at. */
static inline bool is_left(const struct comm_state *state, enum collective collective)
{
    return state->chosen[collective] && state->choice[collective].count == 0 && !job.verbose;
}

struct comm_state *comm_state_find(MPI_Comm comm, enum collective collective)
{
    struct comm_state *state = look(comm);
    if (__builtin_expect(state != NULL && state->ready, true))
        return is_left(state, collective) ? NULL : state;
    if (state == NULL || state->failed)
        return NULL;
    if (!state->ready && state->calls < INT32_MAX && ++state->calls >= state->look_at)
        look_again(state);
    return state->ready ? state : NULL;
}

bool comm_state_find_place(struct comm_state *state)
{
    return state->peers != NULL || find_place(state);
}

struct comm_state *comm_state_of_nonblocking(MPI_Comm comm, enum collective collective)
{
    struct comm_state *state = look(comm);
    if (state == NULL)
        return NULL;
    if (__builtin_expect(state->offer != NULL, false))
        offer_follow(state);
    else if (__builtin_expect(!state->is_offered, false) && dispatch_begins[collective] == BEGINS_COUNTED &&
             ++state->later == (is_patient ? LATER_FIRST : CALLS_BEFORE)) {
        state->is_offered = true;
        offer_begin(state);
        scheduled_offer(state);
        return NULL; /* this call itself is the MPI library's */
    }
    if (state->posted == NULL && !scheduled_is_possible(state))
        return NULL;
    if (__builtin_expect(!state->chosen[collective], false)) /* whatever else keeps it from being served */
        comm_state_range(state, collective, 0);
    return is_left(state, collective) ? NULL : state;
}

struct comm_state *comm_state_any(MPI_Comm comm)
{
    return look(comm);
}

bool comm_state_is_patient(void)
{
    return is_patient;
}

struct comm_state *comm_state_now(MPI_Comm comm)
{
    return make_ready(look(comm));
}

void comm_state_forget_last(struct comm_state *state)
{
    state->ours->is_short = false;
    for (int i = 0; i < COLLECTIVES_BLOCKING; i++)
        state->last[i].implementation = NULL;
}

int64_t *comm_state_vectors(struct comm_state *state)
{
    if (state->vectors == NULL)
        state->vectors = reserve_get(4 * (size_t)state->ranks * sizeof *state->vectors);
    return state->vectors;
}

struct layout *comm_state_layouts(struct comm_state *state)
{
    if (state->layouts == NULL)
        state->layouts = reserve_get(2 * (size_t)state->ranks * sizeof *state->layouts);
    return state->layouts;
}

void comm_state_layouts_done(struct comm_state *state)
{
    const size_t kept_most = 1 << 20;
    if (2 * (size_t)state->ranks * sizeof *state->layouts <= kept_most)
        return;
    reserve_put(state->layouts);
    state->layouts = NULL;
}
