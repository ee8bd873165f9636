#include "keeps.h"

#include <unistd.h>

#include "aside.h"
#include "job.h"
#include "nonblocking.h"
#include "peers.h"
#include "reserve.h"
#include "threads.h"

/* Starts of the MPI library's in which what making a memory takes is repaid ten times, and how many come before. */
enum { PRICE = 2000, AT_ONCE = 8, ROOT = 0 };

struct keep_shared {
    struct keep keep;
    int users;
    int64_t serial; /* the same on all of its ranks, and no other has it: serial_of(); 0: not yet */
    struct keep_shared *next;
};

static struct keep_shared *all_keeps;

static int64_t credit = PRICE * AT_ONCE; /* in starts */
static int64_t last_serial;

void keeps_missed(void)
{
    credit += credit < PRICE; /* none is put by for many: the next communicators may be short-lived */
}

void keeps_use(struct keep *keep)
{
    ((struct keep_shared *)keep)->users++;
}

static void discard(struct keep_shared *shared)
{
    struct keep_shared **link = &all_keeps;
    while (*link != NULL && *link != shared)
        link = &(*link)->next;
    if (*link == shared)
        *link = shared->next;
    keep_free(&shared->keep);
    coll_comm_free(shared->keep.comm);
    reserve_put(shared);
}

void keeps_leave(struct keep *keep)
{
    struct keep_shared *shared = (struct keep_shared *)keep;
    if (keep != NULL && --shared->users == 0)
        discard(shared);
}

/* One in which this rank has the same number, of as many: if all ranks have found the same, it is of these ranks. */
static struct keep_shared *find(const struct comm_state *state)
{
    struct keep_shared *one = all_keeps;
    while (one != NULL && (one->keep.ranks != state->ranks || one->keep.rank != state->rank ||
                           failure_known(one->keep.comm->fabric.failure)))
        one = one->next;
    return one;
}

/* What each rank says; the least of each counts, so the greatest of what is said negative. */
enum { GOOD, CREDIT, SERIAL, SERIAL_MOST, LAST_MOST, FIRST, TERMS };

/* Groups without a rank in common count by themselves and come to the same numbers: what tells theirs apart is who is the first of each. */
static int64_t serial_of(int64_t number, int64_t first)
{
    return number << 32 | first;
}

/* Of the first of them, in the world; of the others nothing. */
static int64_t named_first(const struct comm_state *state)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return state->rank == ROOT ? rank : INT64_MAX;
}

static bool ask(const struct comm_state *state, bool patient, const struct keep_shared *found, int64_t all[TERMS])
{
    const int64_t serial = found != NULL ? found->serial : -1;
    /* What goes on in a session may do so after MPI_Finalize, which ends all memory of ours. */
    const bool outlives = state->user != MPI_COMM_WORLD && threads_has_session();
    const int64_t mine[TERMS] = {[GOOD] = !reserve_is_touched() && !outlives,
                                 [CREDIT] = patient ? credit : INT64_MAX,
                                 [SERIAL] = serial,
                                 [SERIAL_MOST] = -serial,
                                 [LAST_MOST] = -last_serial,
                                 [FIRST] = named_first(state)};
    return PMPI_Allreduce(mine, all, TERMS, MPI_INT64_T, MPI_MIN, state->user) == MPI_SUCCESS;
}

/* What a rank can do alone: what waits, and chooses, without memory. */
static struct keep_shared *plan(struct comm_state *state)
{
    struct keep_shared *shared = reserve_get(sizeof *shared);
    struct coll_comm *comm = coll_comm_alone(state->peers);
    if (comm == NULL) {
        reserve_put(shared);
        return NULL;
    }
    if (job.has_costs)
        comm->costs = job.costs;
    posts_announce(comm);
    *shared = (struct keep_shared){.keep = {.comm = comm}, .users = 1};
    return shared;
}

static bool agreed(const struct comm_state *state, bool mine)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, state->user) == MPI_SUCCESS && all;
}

/* Collective. One rank makes the memory, and tells the others where it is. */
static struct keep_shared *make(struct comm_state *state)
{
    struct keep_shared *shared = plan(state);
    struct shared_place place = {0};
    int file = -1;
    bool good = shared != NULL;
    if (good && state->rank == ROOT)
        good = keep_offer(&shared->keep, &place, &file);
    good = PMPI_Bcast(&place, sizeof place, MPI_BYTE, ROOT, state->user) == MPI_SUCCESS && good;
    if (good && state->rank != ROOT)
        good = place.path[0] != '\0' && keep_take(&shared->keep, &place);
    good = agreed(state, good);
    if (file >= 0) {
        shared_memory_unname(&place);
        close(file);
    }
    if (good || shared == NULL)
        return shared;
    discard(shared);
    return NULL;
}

/* Whether it may be served at all, as all ranks find by themselves: what comes later asks them all, and processes that joined later may be
 * without the library. What takes long comes later, too: most communicators are short-lived. */
static bool may_have(struct comm_state *state)
{
    const struct comm_state *world = comm_state_now(MPI_COMM_WORLD);
    int inter = 1;
    if (world == NULL || room_limit() == 0 || PMPI_Comm_test_inter(state->user, &inter) != MPI_SUCCESS || inter)
        return false;
    PMPI_Comm_size(state->user, &state->ranks);
    PMPI_Comm_rank(state->user, &state->rank);
    return state->ranks > 1 && state->ranks <= world->peers->topology.most && peers_were_there(state->user, false);
}

static bool has_all_of_the_world(const struct comm_state *state, const struct comm_state *world)
{
    bool same = state->ranks == world->ranks;
    for (int i = 0; same && i < state->ranks; i++)
        same = state->peers->world[i] == i;
    return same;
}

/* The world has it too, and others will find it there though this communicator ends. */
static void leave_to_world(const struct comm_state *state)
{
    struct comm_state *world = comm_state_any(MPI_COMM_WORLD);
    if (world == NULL || world == state || world->keep != NULL || !has_all_of_the_world(state, world))
        return;
    keeps_use(state->keep);
    world->keep = state->keep;
}

/* Collective. */
static void look(struct comm_state *state)
{
    const bool patient = comm_state_is_patient() && state->user != MPI_COMM_WORLD && state->ours == NULL;
    int64_t all[TERMS] = {0};
    struct keep_shared *shared = find(state);
    state->keep_refused = !ask(state, patient, shared, all) || !all[GOOD];
    const bool is_there = all[SERIAL] > 0 && all[SERIAL] == -all[SERIAL_MOST];
    if (state->keep_refused || (!is_there && all[CREDIT] < PRICE))
        return;
    state->keep_refused = !comm_state_find_place(state) || state->peers->topology.nodes != 1;
    if (state->keep_refused)
        return;
    if (is_there) {
        shared->users++;
        state->keep = &shared->keep;
        return;
    }
    credit -= patient ? PRICE : 0;
    last_serial = -all[LAST_MOST] + 1;
    shared = make(state);
    state->keep_refused = shared == NULL;
    if (shared == NULL)
        return;
    shared->serial = serial_of(last_serial, all[FIRST]);
    shared->next = all_keeps;
    all_keeps = shared;
    state->keep = &shared->keep;
}

bool keeps_is_early(const struct comm_state *state)
{
    return state->keep == NULL && !state->keep_refused && state->kept_calls > 0;
}

struct keep *keeps_of(struct comm_state *state)
{
    struct aside aside;
    if (state->keep != NULL || state->keep_refused || !nonblocking_is_wanted_on(state))
        return state->keep;
    const int calls = state->kept_calls < INT32_MAX ? ++state->kept_calls : state->kept_calls;
    if (calls == 1 && !may_have(state))
        state->keep_refused = true;
    else if ((calls & (calls - 1)) == 0) {
        aside_step(state->user, &aside);
        look(state);
        aside_back(state->user, &aside);
        if (state->keep != NULL && !comm_state_wants_posts(state)) {
            keeps_leave(state->keep);
            state->keep = NULL;
            state->keep_refused = true;
        }
        if (state->keep != NULL)
            leave_to_world(state);
    }
    return state->keep;
}
