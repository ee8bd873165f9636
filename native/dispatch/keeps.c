#include "keeps.h"

#include <unistd.h>

#include "aside.h"
#include "job.h"
#include "nonblocking.h"
#include "peers.h"
#include "reserve.h"

/* Starts of the MPI library's in which what making a memory takes is repaid ten times, and how many come before. */
enum { PRICE = 2000, AT_ONCE = 8, ROOT = 0 };

struct keep_shared {
    struct keep keep;
    struct peers *peers;
    int users;
    int64_t serial; /* the same on all of its ranks */
};

static int64_t credit = PRICE * AT_ONCE; /* in starts */
static int64_t last_serial;

void keeps_missed(void)
{
    credit += credit < PRICE * AT_ONCE;
}

void keeps_use(struct keep *keep)
{
    ((struct keep_shared *)keep)->users++;
}

static void discard(struct keep_shared *shared)
{
    keep_free(&shared->keep);
    coll_comm_free(shared->keep.comm);
    reserve_put(shared);
}

void keeps_leave(struct keep *keep)
{
    struct keep_shared *shared = (struct keep_shared *)keep;
    if (keep == NULL || --shared->users > 0)
        return;
    if (shared->peers->keep == keep)
        shared->peers->keep = NULL;
    discard(shared);
}

static int64_t serial_of(const struct comm_state *state)
{
    const struct keep_shared *shared = (const struct keep_shared *)state->peers->keep;
    return shared != NULL && !failure_known(shared->keep.comm->fabric.failure) ? shared->serial : -1;
}

/* What each rank says; the least of each counts, so the greatest of what is said negative. */
enum { GOOD, CREDIT, SERIAL, SERIAL_MOST, LAST_MOST, TERMS };

static bool ask(const struct comm_state *state, bool patient, int64_t all[TERMS])
{
    const int64_t serial = serial_of(state);
    const int64_t mine[TERMS] = {[GOOD] = !reserve_is_touched(),
                                 [CREDIT] = patient ? credit : INT64_MAX,
                                 [SERIAL] = serial,
                                 [SERIAL_MOST] = -serial,
                                 [LAST_MOST] = -last_serial};
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
    *shared = (struct keep_shared){.keep = {.comm = comm}, .peers = state->peers, .users = 1};
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

/* Whether it may be served at all, as all ranks find by themselves. */
static bool may_have(struct comm_state *state)
{
    const struct comm_state *world = comm_state_now(MPI_COMM_WORLD);
    int inter = 1, ranks = 0;
    if (world == NULL || room_limit() == 0 || PMPI_Comm_test_inter(state->user, &inter) != MPI_SUCCESS || inter)
        return false;
    PMPI_Comm_size(state->user, &ranks);
    return ranks > 1 && ranks <= world->peers->topology.most && comm_state_find_place(state) &&
           state->peers->topology.nodes == 1;
}

/* Collective. */
static void look(struct comm_state *state)
{
    const bool patient = comm_state_is_patient() && state->user != MPI_COMM_WORLD && state->ours == NULL;
    int64_t all[TERMS] = {0};
    struct keep_shared *shared = (struct keep_shared *)state->peers->keep;
    state->keep_refused = !ask(state, patient, all) || !all[GOOD];
    if (state->keep_refused)
        return;
    if (all[SERIAL] >= 0 && all[SERIAL] == -all[SERIAL_MOST]) {
        shared->users++;
        state->keep = &shared->keep;
        return;
    }
    if (all[CREDIT] < PRICE)
        return;
    credit -= patient ? PRICE : 0;
    last_serial = -all[LAST_MOST] + 1;
    shared = make(state);
    state->keep_refused = shared == NULL;
    if (shared == NULL)
        return;
    shared->serial = last_serial;
    state->keep = state->peers->keep = &shared->keep;
}

/* What the program has asked for itself (unisono.h) is asked for on all ranks of the communicator. */
static bool is_wanted(const struct comm_state *state)
{
    return nonblocking_is_wanted() || state->own >> COLLECTIVES_BLOCKING != 0;
}

bool keeps_is_early(const struct comm_state *state)
{
    return state->keep == NULL && !state->keep_refused && state->kept_calls > 0;
}

struct keep *keeps_of(struct comm_state *state)
{
    struct aside aside;
    if (state->keep != NULL || state->keep_refused || !is_wanted(state))
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
    }
    return state->keep;
}
