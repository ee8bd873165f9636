/* Persistent collectives. What the program holds is a request of the MPI library's own, made by its MPI_X_init: it is valid
 * wherever a request is, and is started as such where the call cannot be ours. Where it can, the request stays inactive, and a
 * nonblocking call begins instead, whose request stands in the program's place while MPI waits or tests. Then nothing stands for
 * one that is inactive, since MPICH 5.0 waits for ever for one that it has never started.
 *
 * Whether a start is ours is decided as for nonblocking calls, by values that are equal on all ranks and by the first rank that
 * begins it; so every rank has to know every request, however many there are. */
#include "persistent.h"

#include <stdint.h>

#include "dispatch.h"
#include "nonblocking.h"
#include "reserve.h"

enum { BUCKETS = 256 };

struct persistent {
    struct dispatch_kept call;
    MPI_Request request; /* the program's */
    MPI_Request posted;  /* of the nonblocking call; MPI_REQUEST_NULL while it is inactive */
    bool is_mpis;        /* it was started by the MPI library, the last time */
    bool is_retired;
    bool owns_send_type, owns_type; /* the program may free its own */
    struct persistent *next;        /* of the bucket */
    bool is_away;                   /* from its place in the array of a function that completes requests: */
    int place;
    struct persistent *away;
};

int dispatch_keeps;
static struct persistent *bucket[BUCKETS];
static struct persistent *away;

static struct persistent **place_of(MPI_Request request)
{
    struct persistent **place = &bucket[((uintptr_t)request / 8 + (uintptr_t)request % 8) % BUCKETS];
    while (*place != NULL && (*place)->request != request)
        place = &(*place)->next;
    return place;
}

/* A type of ours in the place of one that the program has made, and may free. Whether it is. */
static bool own(MPI_Datatype *type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    MPI_Datatype copy;
    if (*type == MPI_DATATYPE_NULL ||
        PMPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
        combiner == MPI_COMBINER_NAMED || PMPI_Type_contiguous(1, *type, &copy) != MPI_SUCCESS)
        return false;
    PMPI_Type_commit(&copy);
    *type = copy;
    return true;
}

/* Arguments that are not significant on this rank may be anything, and are not looked at. */
void dispatch_keep(MPI_Request request, struct dispatch_kept call)
{
    int rank, is_inter = 0;
    if (!nonblocking_is_allowed() || PMPI_Comm_test_inter(call.comm, &is_inter) != MPI_SUCCESS || is_inter)
        return;
    PMPI_Comm_rank(call.comm, &rank);
    const bool is_root = rank == call.root;
    struct persistent *made = reserve_get(sizeof *made), **place = place_of(request);
    *made = (struct persistent){.call = call, .request = request, .posted = MPI_REQUEST_NULL, .next = *place};
    made->owns_send_type = call.send != MPI_IN_PLACE && call.send_count > 0 &&
                           (call.has != ROOT_ALONE_SENDS || is_root) && own(&made->call.send_type);
    made->owns_type = call.receive != MPI_IN_PLACE && call.count > 0 && (call.has != ROOT_ALONE_RECEIVES || is_root) &&
                      own(&made->call.type);
    *place = made;
    dispatch_keeps++;
}

bool dispatch_again(MPI_Request request, int *error)
{
    struct persistent *one = *place_of(request);
    if (one == NULL)
        return false;
    one->is_mpis = one->is_retired || !dispatch_posts || !one->call.begin(&one->call, &one->posted, error);
    return !one->is_mpis;
}

static void drop(struct persistent **place)
{
    struct persistent *one = *place;
    *place = one->next;
    if (one->owns_send_type)
        PMPI_Type_free(&one->call.send_type);
    if (one->owns_type)
        PMPI_Type_free(&one->call.type);
    reserve_put(one);
    dispatch_keeps--;
}

void dispatch_forget(MPI_Request request)
{
    struct persistent **place = place_of(request), *one = *place;
    if (one == NULL)
        return;
    if (one->posted != MPI_REQUEST_NULL) { /* MPI forbids it */
        dispatch_await_all(1, &one->posted);
        PMPI_Wait(&one->posted, MPI_STATUS_IGNORE);
    }
    drop(place);
}

void dispatch_enter(int count, MPI_Request *requests)
{
    for (int i = 0; dispatch_keeps > 0 && i < count; i++) {
        struct persistent *one = *place_of(requests[i]);
        if (one == NULL || one->is_mpis || one->is_away)
            continue;
        one->is_away = true;
        one->place = i;
        one->away = away;
        away = one;
        requests[i] = one->posted;
    }
}

void dispatch_return(MPI_Request *requests)
{
    for (; away != NULL; away = away->away) {
        away->is_away = false;
        away->posted = requests[away->place];
        requests[away->place] = away->request;
    }
}

void persistent_end(MPI_Comm comm)
{
    for (int i = 0; dispatch_keeps > 0 && i < BUCKETS; i++)
        for (struct persistent *one = bucket[i]; one != NULL; one = one->next)
            one->is_retired = one->is_retired || one->call.comm == comm;
}

void persistent_finish(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (bucket[i] != NULL)
            drop(&bucket[i]);
}
