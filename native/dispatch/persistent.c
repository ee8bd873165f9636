/* Persistent collectives. What the program holds is a request of the MPI library's own, made by its MPI_X_init: it is valid
 * wherever a request is. Where all ranks have agreed that its starts are ours (../collectives/node/kept.h, lasting.h), the MPI library never hears
 * of them: its request stays inactive, and complete.c keeps it out of the arrays of what completes requests. */
#include "persistent.h"

#include <stdint.h>

#include "aside.h"
#include "dispatch.h"
#include "failure.h"
#include "job.h"
#include "keeps.h"
#include "libnbc.h"
#include "node/wait.h"
#include "pack.h"
#include "reserve.h"
#include "verbose.h"

enum { BUCKETS_FIRST = 64 };

int dispatch_kept;
int dispatch_known;

static struct persistent **bucket; /* of known ones, by request; threads are in MPI one at a time */
static int buckets;
static struct persistent *recent; /* found last */

static struct persistent **place_of(MPI_Request request)
{
    const uint64_t hash = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);
    struct persistent **place = &bucket[(hash >> 32) % (uint64_t)buckets];
    while (*place != NULL && (*place)->request != request)
        place = &(*place)->next;
    return place;
}

static struct persistent *find(MPI_Request request)
{
    if (recent != NULL && recent->request == request)
        return recent;
    struct persistent *one = buckets > 0 ? *place_of(request) : NULL;
    recent = one != NULL ? one : recent;
    return one;
}

static bool is_ours(const struct persistent *one)
{
    return one->kept.keep != NULL || one->lasting != NULL;
}

struct coll_comm *persistent_comm(const struct persistent *one)
{
    return one->lasting != NULL ? lasting_of(one->lasting) : one->kept.keep->comm;
}

struct persistent *persistent_find(MPI_Request request)
{
    struct persistent *one = request != MPI_REQUEST_NULL ? find(request) : NULL;
    return one != NULL && is_ours(one) ? one : NULL;
}

static void grow(void)
{
    struct persistent **before = bucket;
    const int many = buckets;
    buckets = many > 0 ? 2 * many : BUCKETS_FIRST;
    bucket = reserve_get((size_t)buckets * sizeof *bucket);
    for (int i = 0; i < many; i++)
        for (struct persistent *one = before[i], *next; one != NULL; one = next) {
            struct persistent **place = place_of(one->request);
            next = one->next;
            one->next = NULL;
            *place = one;
        }
    reserve_put(before);
}

static void add(struct persistent *one)
{
    if (dispatch_known >= buckets)
        grow();
    struct persistent **place = place_of(one->request);
    one->next = *place;
    *place = one;
    dispatch_known++;
    dispatch_kept += is_ours(one);
}

/* With a type of ours, and room for it in one piece. */
static int own(struct packed *side, const struct packed *given, void **room)
{
    if (!given->is_there)
        return MPI_SUCCESS;
    *side = *given;
    *room = reserve_get((size_t)types_bytes(side->count, &side->layout));
    int error = PMPI_Type_contiguous(1, given->type, &side->type);
    return error == MPI_SUCCESS ? PMPI_Type_commit(&side->type) : error;
}

/* The others wait for what this rank cannot give. */
static int fail(struct persistent *one, int error)
{
    failure_found(persistent_comm(one)->fabric.failure, error);
    if (one->user != MPI_COMM_NULL)
        PMPI_Comm_call_errhandler(one->user, error);
    return error;
}

static void prepare(struct persistent *one, const struct wish *wish)
{
    struct call *call = &one->kept.call;
    if (wish->parts != NULL) {
        one->parts = wish->parts;
        int arranged = parts_arrange(one->parts, call, persistent_comm(one)->rank, true);
        if (arranged != MPI_SUCCESS)
            fail(one, arranged);
        return;
    }
    int error = own(&one->send, &wish->send, &one->sent);
    if (error == MPI_SUCCESS)
        error = own(&one->receive, &wish->receive, &one->received);
    if (error != MPI_SUCCESS)
        fail(one, error);
    if (one->sent != NULL)
        call->send = one->sent;
    if (one->received != NULL)
        call->receive = one->received;
    one->keeps = wish->keeps;
    if (one->keeps)
        call->send = (char *)one->received + persistent_comm(one)->rank * call->bytes;
}

struct comm_state *persistent_place(MPI_Comm comm)
{
    struct comm_state *state = comm_state_any(comm);
    if (state != NULL && job.verbose)
        comm_state_find_place(state); /* so that it is known how much what is left to the MPI library moves */
    return state != NULL &&
                   (keeps_of(state) != NULL || lasting_comm(state) != NULL || keeps_is_early(state) || job.verbose)
               ? state
               : NULL;
}

/* Ranks that know no size alike agree on the longest block: making one may wait. False: it is none of ours. */
static bool agree(const struct comm_state *state, bool possible, const struct wish *wish, struct call *call)
{
    *call = wish->call;
    if (!collective_has_no_size(call->collective))
        return possible;
    if (state->keep == NULL)
        return false;
    struct aside aside;
    int64_t mine = possible ? parts_longest(wish->parts) : INT64_MAX;
    aside_step(state->user, &aside);
    int error = PMPI_Allreduce(&mine, &call->piece, 1, MPI_INT64_T, MPI_MAX, state->user);
    aside_back(state->user, &aside);
    return error == MPI_SUCCESS && call->piece < INT64_MAX;
}

/* Of one that ours serve. False, on all ranks: there is none left. */
static bool find_place(struct persistent *one, struct comm_state *state, const struct call *call)
{
    if (state->keep == NULL) {
        one->kept.call = *call;
        one->lasting = lasting_make(state);
        return one->lasting != NULL;
    }
    if (!kept_make(&one->kept, state->keep, call))
        return false;
    keeps_use(state->keep);
    return true;
}

void persistent_make(struct comm_state *state, bool possible, const struct wish *wish, MPI_Request request)
{
    if (state == NULL)
        return;
    struct call call = wish->call;
    const enum collective named = collective_init(wish->call.collective);
    const struct coll_comm *comm = state->keep != NULL ? state->keep->comm : lasting_comm(state);
    const struct implementation *chosen =
        comm != NULL && agree(state, possible, wish, &call) ? nonblocking_choose(state, comm, &call, named) : NULL;
    struct persistent *one = reserve_get(sizeof *one);
    *one = (struct persistent){.request = request, .user = state->user, .is_early = possible && keeps_is_early(state)};
    if (chosen != NULL && find_place(one, state, &call)) {
        prepare(one, wish);
        if (one->lasting != NULL)
            lasting_set(one->lasting, &one->kept.call, wish);
        one->by = implementation_as(chosen, named);
    } else {
        parts_free(wish->parts);
        one->kept = (struct kept){.call = wish->call};
        const struct implementation *made = libnbc_of_made(named, &one->kept.call.bytes);
        one->by = made != NULL ? implementation_as(made, named) : implementation_mpi(named);
    }
    add(one);
}

/* What is given, in one piece. */
static int collect(const struct persistent *one)
{
    const MPI_Comm any = persistent_comm(one)->comm;
    const struct packed *send = &one->send, *receive = &one->receive;
    int error = MPI_SUCCESS;
    if (one->parts != NULL)
        return parts_pack(one->parts, any);
    if (one->keeps)
        error = pack(receive->data, receive->count, receive->type, &receive->layout, one->received, any);
    if (error == MPI_SUCCESS && send->is_there)
        error = pack(send->data, send->count, send->type, &send->layout, one->sent, any);
    return error;
}

bool dispatch_again(MPI_Request request, int *error)
{
    struct persistent *one = find(request);
    if (one == NULL)
        return false;
    if (job.verbose)
        verbose_count(one->by, one->kept.call.bytes < 0 ? 0 : one->kept.call.bytes);
    if (!is_ours(one)) {
        if (one->is_early)
            keeps_missed();
        return false;
    }
    *error = one->is_active ? MPI_ERR_REQUEST : collect(one);
    if (*error == MPI_SUCCESS) {
        one->is_active = true;
        one->is_over = false;
        if (one->lasting != NULL)
            lasting_start(one->lasting);
        else
            kept_start(&one->kept);
    } else if (!one->is_active)
        fail(one, *error);
    else if (one->user != MPI_COMM_NULL)
        PMPI_Comm_call_errhandler(one->user, *error);
    return true;
}

/* Whether the last start is over, and how. */
static bool has_ended(struct persistent *one, int *error)
{
    if (one->lasting != NULL)
        return lasting_is_over(one->lasting, error);
    const struct coll_comm *comm = one->kept.keep->comm;
    if (!kept_is_over(&one->kept) && !failure_known(comm->fabric.failure))
        return false;
    *error = wait_outcome(comm);
    return true;
}

void persistent_move(struct persistent *one)
{
    const struct packed *receive = &one->receive;
    const MPI_Comm any = persistent_comm(one)->comm;
    if (!one->is_active || one->is_over || !has_ended(one, &one->error))
        return;
    one->is_over = true;
    if (one->parts != NULL && one->error == MPI_SUCCESS)
        one->error = parts_unpack(one->parts, any);
    if (receive->is_there && one->error == MPI_SUCCESS)
        one->error = unpack(one->received, receive->data, receive->count, receive->type, &receive->layout, any);
}

void persistent_turn(struct persistent *one, unsigned *turn)
{
    persistent_move(one);
    if (one->is_active && !one->is_over)
        wait_turn(persistent_comm(one), turn); /* a failure that it finds ends it the next time */
}

int persistent_result(struct persistent *one)
{
    int error = one->is_active ? one->error : MPI_SUCCESS;
    one->is_active = false;
    if (error != MPI_SUCCESS && one->user != MPI_COMM_NULL)
        PMPI_Comm_call_errhandler(one->user, error);
    return error;
}

static void drop(struct persistent **place)
{
    struct persistent *one = *place;
    *place = one->next;
    recent = NULL;
    if (one->send.is_there)
        PMPI_Type_free(&one->send.type);
    if (one->receive.is_there)
        PMPI_Type_free(&one->receive.type);
    dispatch_known--;
    dispatch_kept -= is_ours(one);
    if (one->lasting != NULL) { /* which may be using them */
        lasting_leave(one->lasting, one->sent, one->received, one->parts);
    } else {
        parts_free(one->parts);
        reserve_put(one->sent);
        reserve_put(one->received);
    }
    if (one->kept.keep != NULL) {
        kept_give_back(&one->kept);
        keeps_leave(one->kept.keep);
    }
    reserve_put(one);
}

/* Of one that is active MPI forbids it. What this rank gives the others have, or will have; what it gets it gets if that is there by now,
 * or, over several nodes, when it comes and has no gaps. */
void dispatch_forget(MPI_Request request)
{
    struct persistent **place = buckets > 0 ? place_of(request) : NULL;
    if (place == NULL || *place == NULL)
        return;
    if (is_ours(*place))
        persistent_move(*place);
    drop(place);
}

void persistent_end(MPI_Comm comm)
{
    for (int i = 0; dispatch_known > 0 && i < buckets; i++)
        for (struct persistent *one = bucket[i]; one != NULL; one = one->next)
            one->user = one->user == comm ? MPI_COMM_NULL : one->user;
}

void persistent_finish(void)
{
    for (int i = 0; i < buckets; i++)
        while (bucket[i] != NULL)
            drop(&bucket[i]);
    reserve_put(bucket);
    bucket = NULL;
    buckets = 0;
}
