#include "offer.h"

#include <unistd.h>

#include "aside.h"
#include "by_message.h"
#include "dispatch.h"
#include "job.h"
#include "nonblocking.h"
#include "node/posts.h"
#include "peers.h"
#include "reserve.h"
#include "threads.h"

enum { ROOT = 0 }; /* of ranks that are on one node, local number 0 */

enum { PLACE, MOST, UNMATCHED, REQUESTS };

struct offer {
    MPI_Request request[REQUESTS];
    struct shared_place place;    /* empty: there is no memory */
    struct around_said mine, all; /* where there is a topology on whose neighbours ranks have not agreed */
    bool says;                    /* there is */
    int error;                    /* of what could not begin */
    int file;                     /* of who made it, until all have it; -1: none */
    bool is_alone;                /* its communicator has ended */
};

/* Whether ranks could tell each other anything, and all would listen: processes that joined later may be without the library. */
static bool are_several(MPI_Comm comm)
{
    int inter = 1, ranks = 1;
    if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter)
        PMPI_Comm_size(comm, &ranks);
    return ranks > 1 && peers_were_there(comm, false);
}

static void refuse(struct comm_state *state)
{
    coll_comm_free(state->posted);
    state->posted = NULL;
}

/* What a rank needs for it but the memory: state->posted, or NULL where it cannot be or where nothing of ours would serve. From here on
 * calls are numbered. */
static void plan(struct comm_state *state)
{
    if (threads_has_session()) /* what goes on in one may do so after MPI_Finalize, which ends all memory of ours */
        return;
    if (!comm_state_find_place(state) || state->peers->topology.nodes != 1 || room_limit() == 0)
        return;
    state->posted = coll_comm_alone(state->peers);
    if (state->posted == NULL)
        return;
    if (job.has_costs)
        state->posted->costs = job.costs;
    posts_announce(state->posted);
    if (!comm_state_wants_posts(state))
        refuse(state);
}

static bool begin(struct offer *offer, int which, int error)
{
    if (error != MPI_SUCCESS) {
        offer->request[which] = MPI_REQUEST_NULL;
        offer->error = error;
    }
    return error == MPI_SUCCESS;
}

/* Where the memory is, and what all say of their neighbours. */
static void ask(struct comm_state *state)
{
    struct offer *offer = state->offer;
    const MPI_Comm comm = state->user;
    struct around_said *mine = &offer->mine, *all = &offer->all;
    int targets, sources;
    MPI_Request *request = offer->request;
    begin(offer, PLACE, PMPI_Ibcast(&offer->place, sizeof offer->place, MPI_BYTE, ROOT, comm, &request[PLACE]));
    offer->says = around_count(comm, &targets, &sources) && around_says(state, mine);
    if (!offer->says)
        return;
    begin(offer, MOST, PMPI_Iallreduce(&mine->most, &all->most, 1, MPI_INT64_T, MPI_MAX, comm, &request[MOST]));
    begin(offer, UNMATCHED,
          PMPI_Iallreduce(&mine->unmatched, &all->unmatched, 1, MPI_UINT64_T, MPI_SUM, comm, &request[UNMATCHED]));
}

/* A rank that has no memory for it takes part in the broadcast like all others. */
void offer_begin(struct comm_state *state)
{
    struct aside aside;
    int rank;
    if (!nonblocking_is_wanted() || !are_several(state->user))
        return;
    struct offer *offer = state->offer = reserve_get(sizeof *offer);
    *offer = (struct offer){.request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, .file = -1};
    PMPI_Comm_rank(state->user, &rank);
    plan(state);
    const int64_t number = rank == ROOT && state->posted != NULL && !reserve_is_touched() ? by_message_number() : 0;
    if (number > 0)
        posts_offer(state->posted, number, &offer->place, &offer->file);
    aside_step(state->user, &aside);
    ask(state);
    aside_back(state->user, &aside);
}

static void close_file(struct offer *offer)
{
    if (offer->file < 0)
        return;
    shared_memory_unname(&offer->place);
    close(offer->file);
    offer->file = -1;
}

static bool is_under_way(const struct offer *offer)
{
    bool any = false;
    for (int i = 0; i < REQUESTS; i++)
        any = any || offer->request[i] != MPI_REQUEST_NULL;
    return any;
}

/* After an error of one request another may still be under way, and needs its memory. */
static void forget(struct comm_state *state)
{
    close_file(state->offer);
    if (!is_under_way(state->offer))
        reserve_put(state->offer);
    state->offer = NULL;
}

/* All is said, on this rank. */
static void take(struct comm_state *state, int error)
{
    struct offer *offer = state->offer;
    error = error != MPI_SUCCESS ? error : offer->error;
    const bool is_there = error == MPI_SUCCESS && offer->place.path[0] != '\0' && state->posted != NULL;
    if (offer->says && error == MPI_SUCCESS)
        around_hear(state, &offer->all);
    if (offer->file >= 0) { /* it is this rank's own */
        if (is_there)
            posts_come(state->posted->posts);
        return;
    }
    if (state->posted != NULL && (!is_there || reserve_is_touched() || !posts_take(state->posted, &offer->place)))
        refuse(state);
    forget(state);
}

void offer_follow(struct comm_state *state)
{
    struct offer *offer = state->offer;
    struct aside aside;
    if (is_under_way(offer)) {
        int heard = 0;
        aside_step(state->user, &aside);
        int error = PMPI_Testall(REQUESTS, offer->request, &heard, MPI_STATUSES_IGNORE);
        aside_back(state->user, &aside);
        if (heard || error != MPI_SUCCESS)
            take(state, error);
    } else if (offer->file < 0 || posts_complete(state->posted->posts)) {
        forget(state);
    }
}

/* MPICH ends a communicator that was freed without our knowing of it when the last request on it is over, which is this one. */
bool offer_await(struct comm_state *state)
{
    struct offer *offer = state->offer;
    struct aside aside;
    aside_step(state->user, &aside);
    const bool was_under_way = is_under_way(offer);
    int error = PMPI_Waitall(REQUESTS, offer->request, MPI_STATUSES_IGNORE);
    if (offer->is_alone) {
        dispatch_aside(aside.before);
        reserve_put(offer);
        return false;
    }
    aside_back(state->user, &aside);
    if (was_under_way)
        take(state, error);
    return true;
}

bool offer_end(struct comm_state *state)
{
    if (state->offer != NULL && !offer_await(state))
        return false;
    if (state->offer != NULL)
        forget(state);
    return true;
}

void offer_leave(struct comm_state *state)
{
    if (state->offer == NULL)
        return;
    close_file(state->offer);
    state->offer->is_alone = true;
}
