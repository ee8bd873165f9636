#include "nonblocking.h"

#include <string.h>

#include "dispatch.h"
#include "failure.h"
#include "job.h"
#include "libnbc.h"
#include "node/posts.h"
#include "node/wait.h"
#include "offer.h"
#include "ordered.h"
#include "pack.h"
#include "peers.h"
#include "reserve.h"
#include "verbose.h"

unsigned char dispatch_posts;
int dispatch_under_way;

/* One call, from its begin until the program has waited for its request. */
struct operation {
    struct post post; /* the first: what the transport knows of it */
    struct coll_comm *comm;
    MPI_Request request;
    bool is_over;
    int error;
    void *room;            /* for what is received, where that has to be unpacked in the end: */
    struct packed receive; /* with a type of ours, as the program may free its own */
    struct operation *newer, *older;
};

static bool is_crowded;          /* somewhere in the world: the same on all ranks */
static struct operation *newest; /* of those under way; threads are in MPI one at a time (nonblocking_start) */

static int query(void *extra, MPI_Status *status)
{
    const struct operation *operation = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return operation->error;
}

static int release(void *extra)
{
    reserve_put(extra);
    return MPI_SUCCESS;
}

/* MPI forbids it of collectives. */
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static int deliver(struct operation *operation)
{
    struct packed *receive = &operation->receive;
    int error =
        unpack(operation->room, receive->data, receive->count, receive->type, &receive->layout, operation->comm->comm);
    PMPI_Type_free(&receive->type);
    reserve_put(operation->room);
    operation->room = NULL;
    return error;
}

static void finish(struct post *post, int error)
{
    struct operation *operation = (struct operation *)post;
    if (operation->room != NULL) {
        int delivered = deliver(operation);
        error = error != MPI_SUCCESS ? error : delivered;
    }
    operation->error = error;
    operation->is_over = true;
    if (operation->newer != NULL)
        operation->newer->older = operation->older;
    else
        newest = operation->older;
    if (operation->older != NULL)
        operation->older->newer = operation->newer;
    dispatch_under_way--;
    PMPI_Grequest_complete(operation->request);
}

/* One turn of waiting for it. */
static void turn_for(const struct operation *operation, unsigned *turn)
{
    posts_move(operation->comm);
    if (!operation->is_over && !wait_turn(operation->comm, turn))
        posts_fail(operation->comm);
}

static void await(const struct operation *operation)
{
    unsigned turn = 0;
    while (!operation->is_over)
        turn_for(operation, &turn);
}

/* One of those under way that is among them; NULL: none. */
static struct operation *find(int count, const MPI_Request *requests)
{
    for (struct operation *one = newest; one != NULL; one = one->older)
        for (int i = 0; i < count; i++)
            if (requests[i] == one->request)
                return one;
    return NULL;
}

void dispatch_await_all(int count, const MPI_Request *requests)
{
    const struct operation *one;
    while ((one = find(count, requests)) != NULL)
        await(one);
}

void dispatch_move(void)
{
    struct operation *one = newest;
    while (one != NULL) {
        struct coll_comm *comm = one->comm;
        int before = dispatch_under_way;
        posts_move(comm);
        one = dispatch_under_way < before ? newest : one->older;
    }
}

bool dispatch_turn(int count, const MPI_Request *requests, unsigned *turn)
{
    const struct operation *one = find(count, requests);
    if (one != NULL)
        turn_for(one, turn);
    return one != NULL;
}

static bool is_served_at_all(enum collective collective)
{
    return collective_is_nonblocking(collective) &&
           (job.reproducible == REPRODUCIBLE_NOT || !collective_reduces(collective));
}

/* Whether any names one of ours. */
static bool any_rule(const struct rules *rules)
{
    bool any = false;
    for (int i = 0; i < rules->count; i++)
        for (int k = 0; k < rules->rule[i].count; k++)
            any = any ||
                  (is_served_at_all(rules->rule[i].collective) && rules->rule[i].implementation[k]->kind == BY_OURS);
    return any;
}

const struct implementation *nonblocking_choose(struct comm_state *state, const struct coll_comm *comm,
                                                const struct call *call)
{
    if (!is_served_at_all(call->collective) || call->bytes < 0 ||
        (call->bytes == 0 && call->collective != COLL_IBARRIER))
        return NULL;
    const struct shape shape = {
        .bytes = call->bytes, .element = call->reduction.element, .commutative = true, .root = call->root};
    const struct range *range = comm_state_range(state, call->collective, call->bytes);
    const struct implementation *chosen = NULL;
    for (int i = 0; range != NULL && i < range->count && chosen == NULL; i++) {
        const struct implementation *one = range->implementation[i];
        if (one->kind == BY_MPI || (one->kind == BY_LIBNBC && one->number > 0) ||
            (one->kind == BY_OURS && algorithm_applies(one->algorithm, comm, &shape)))
            chosen = one;
    }
    return chosen != NULL && chosen->kind == BY_OURS ? chosen : NULL;
}

void nonblocking_left(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count < 0 || (count > 0 && PMPI_Type_size_x(type, &size) != MPI_SUCCESS))
        return;
    const struct implementation *one = libnbc_hold(comm, collective, count * size);
    if (job.verbose)
        verbose_count(one != NULL ? one : implementation_mpi(collective), count * size);
}

/* What is sent, in one piece; it is read while the operation begins. */
static int collect(struct operation *operation, const struct packed *send, void **room)
{
    if (!send->is_there)
        return MPI_SUCCESS;
    *room = reserve_get((size_t)types_bytes(send->count, &send->layout));
    operation->post.call.send = *room;
    return pack(send->data, send->count, send->type, &send->layout, *room, operation->comm->comm);
}

static int make_room(struct operation *operation, const struct wish *wish)
{
    struct packed *receive = &operation->receive;
    struct call *call = &operation->post.call;
    if (!wish->receive.is_there)
        return MPI_SUCCESS;
    *receive = wish->receive;
    operation->room = call->receive = reserve_get((size_t)types_bytes(receive->count, &receive->layout));
    int error = PMPI_Type_contiguous(1, wish->receive.type, &receive->type);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&receive->type);
    if (error == MPI_SUCCESS && wish->keeps) {
        call->send = (char *)operation->room + operation->comm->rank * call->bytes;
        error = pack(receive->data, receive->count, receive->type, &receive->layout, operation->room,
                     operation->comm->comm);
    }
    return error;
}

/* Its data is where the others find it: a request for the rest. */
static int enlist(struct operation *operation)
{
    posts_post(operation->comm, &operation->post);
    int error = PMPI_Grequest_start(query, release, cancel, operation, &operation->request);
    operation->older = newest;
    if (newest != NULL)
        newest->newer = operation;
    newest = operation;
    dispatch_under_way++;
    return error;
}

bool nonblocking_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error)
{
    const struct implementation *chosen = nonblocking_choose(state, state->posted, &wish->call);
    void *sent = NULL;
    if (chosen == NULL)
        return false;
    struct operation *operation = reserve_get(sizeof *operation);
    operation->comm = state->posted;
    operation->post = (struct post){.call = wish->call, .finish = finish};
    if (!posts_number(state->posted, &operation->post, false)) {
        reserve_put(operation);
        return false;
    }
    if (job.verbose)
        verbose_count(chosen, wish->call.bytes);
    int failed = make_room(operation, wish);
    failed = failed != MPI_SUCCESS ? failed : collect(operation, &wish->send, &sent);
    failed = failed != MPI_SUCCESS ? failed : enlist(operation);
    reserve_put(sent);
    *error = failed;
    if (failed != MPI_SUCCESS) { /* the others wait for what this rank cannot give */
        failure_found(state->posted->fabric.failure, failed);
        PMPI_Comm_call_errhandler(state->user, failed);
        return true;
    }
    *request = operation->request;
    posts_move(state->posted);
    return true;
}

int nonblocking_run(struct coll_comm *comm, const struct call *call)
{
    struct operation *operation = reserve_get(sizeof *operation);
    operation->comm = comm;
    operation->post = (struct post){.call = *call, .finish = finish};
    if (!posts_number(comm, &operation->post, true)) {
        reserve_put(operation);
        return wait_outcome(comm);
    }
    int error = enlist(operation);
    if (error != MPI_SUCCESS)
        return error;
    MPI_Request request = operation->request;
    await(operation);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

static bool is_allowed(void)
{
    return dispatch_all_complete && job.started && !job.multiple && !job.devices && !failure_tolerated();
}

/* Without a rule nothing serves where ranks share CPUs, as nothing is tried there (trial.h). */
bool nonblocking_is_wanted(void)
{
    return is_allowed() &&
           (any_rule(&job.forced) || (job.is_on && (any_rule(&job.rules) || (job.by_costs && !is_crowded))));
}

/* Memory for the communicator: collective. */
static void prepare(struct comm_state *state)
{
    state->is_offered = true;
    if (!comm_state_equip(state) || state->ours->topology.nodes != 1 || !state->ours->served)
        return;
    if (state->ours->posts != NULL || posts_create(state->ours))
        state->posted = state->ours;
}

void nonblocking_before_trial(struct comm_state *world)
{
    struct coll_comm *comm = world->ours;
    if (is_allowed() && comm->topology.nodes == 1 && comm->served && !comm->crowded)
        posts_create(comm);
}

void nonblocking_start(void)
{
    struct comm_state *world = is_allowed() ? comm_state_now(MPI_COMM_WORLD) : NULL;
    is_crowded = world != NULL && world->peers->crowded;
    const bool wanted = world != NULL && nonblocking_is_wanted();
    if (wanted)
        prepare(world);
    dispatch_posts = libnbc_start() || wanted;
}

void nonblocking_ask(struct comm_state *state)
{
    if (!is_allowed())
        return;
    dispatch_posts = true;
    if (!state->is_offered)
        prepare(state);
    else if (state->offer != NULL)
        offer_await(state);
}

void nonblocking_end(struct comm_state *state)
{
    for (struct operation *one = newest; one != NULL; one = newest) {
        while (one != NULL && one->comm != state->posted)
            one = one->older;
        if (one == NULL)
            return;
        await(one);
    }
}
