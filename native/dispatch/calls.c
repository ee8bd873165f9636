/* The calls that can be served: from a program's arguments to contiguous bytes and back.
 *
 * What is chosen depends on values that are equal on all ranks: count times size, never a type or where it is. Arguments
 * that MPI forbids are left to the MPI library, which says so. */
#include <string.h>

#include "dispatch.h"
#include "job.h"
#include "ordered.h"
#include "pack.h"
#include "reduction.h"
#include "serve.h"
#include "comm_state.h"

/* Where element number `index` is. */
static char *element(const void *buffer, int64_t index, const struct layout *layout)
{
    return (char *)(uintptr_t)buffer + index * layout->extent;
}

bool dispatch_barrier(MPI_Comm *comm, int *error)
{
    struct call call = {.collective = COLL_BARRIER};
    struct comm_state *state = comm_state_find(*comm, COLL_BARRIER);
    const struct implementation *ours = state != NULL ? serve_choose(state, &call, true, comm) : NULL;
    return ours != NULL && serve(state, &call, ours, error);
}

bool dispatch_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_BCAST);
    struct layout layout;
    if (state == NULL || root < 0 || root >= state->ranks || buffer == MPI_IN_PLACE || !types_layout(type, &layout))
        return false;
    struct call call = {
        .collective = COLL_BCAST, .root = root, .bytes = types_bytes(count, &layout), .receive = buffer};
    enum packing packing = serve_packing(state, &call, call.bytes, layout.contiguous ? PACKS_NOTHING : PACKS_WHOLE);
    const struct implementation *ours = serve_choose(state, &call, packing == PACKS_NOTHING, comm);
    if (ours == NULL)
        return false;
    if (layout.contiguous)
        return serve(state, &call, ours, error);
    int failed = serve_room(state, SCRATCH_PACK_RECEIVE, call.bytes, &call.receive);
    if (failed == MPI_SUCCESS && state->rank == root)
        failed = pack(buffer, count, type, &layout, call.receive, state->ours->comm);
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && state->rank != root)
        failed = unpack(call.receive, buffer, count, type, &layout, state->ours->comm);
    return serve_end(state, failed, error);
}

/* reduce, allreduce, scan and exscan: types with gaps are not served by us, so there is nothing to pack. */
static bool combine(struct comm_state *state, struct call *call, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm *comm, int *error)
{
    struct layout layout;
    if (call->send == MPI_IN_PLACE)
        call->send = call->receive;
    if (call->receive == MPI_IN_PLACE || !types_layout(type, &layout) || types_op(layout.kind, op) == OP_FORBIDDEN)
        return false;
    call->count = count;
    call->bytes = types_bytes(count, &layout);
    bool possible = serve_reduction(state, &call->reduction, type, op, &layout);
    const struct implementation *ours = serve_choose(state, call, possible, comm);
    return ours != NULL && serve(state, call, ours, error);
}

static bool reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_REDUCE);
    if (state == NULL || root < 0 || root >= state->ranks || (send == MPI_IN_PLACE && state->rank != root))
        return false;
    struct call call = {.collective = COLL_REDUCE, .root = root, .send = send};
    call.receive = state->rank == root ? receive : NULL;
    return combine(state, &call, count, type, op, comm, error);
}

bool dispatch_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                     MPI_Comm *comm, int *error)
{
    return reduce(send, receive, count, type, op, root, comm, error) ||
           (ordered_order() != ORDER_FREE && ordered_reduce(send, receive, count, type, op, root, *comm, error));
}

bool dispatch_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                        int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLREDUCE);
    struct call call = {.collective = COLL_ALLREDUCE, .send = send, .receive = receive};
    return (state != NULL && combine(state, &call, count, type, op, comm, error)) ||
           (ordered_order() != ORDER_FREE && ordered_allreduce(send, receive, count, type, op, *comm, error));
}

/* Where sums are to be reproducible these are the MPI library's, as always (ordered.h). */
bool dispatch_scan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                   int *error)
{
    struct comm_state *state = ordered_order() == ORDER_FREE ? comm_state_find(*comm, COLL_SCAN) : NULL;
    struct call call = {.collective = COLL_SCAN, .send = send, .receive = receive};
    return state != NULL && combine(state, &call, count, type, op, comm, error);
}

bool dispatch_exscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                     int *error)
{
    struct comm_state *state = ordered_order() == ORDER_FREE ? comm_state_find(*comm, COLL_EXSCAN) : NULL;
    struct call call = {.collective = COLL_EXSCAN, .send = send == MPI_IN_PLACE ? receive : send};
    if (state == NULL)
        return false;
    call.receive = state->rank == 0 ? NULL : receive; /* of rank 0 it means nothing */
    return combine(state, &call, count, type, op, comm, error);
}

bool dispatch_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLGATHER);
    struct layout in, out;
    bool in_place = send == MPI_IN_PLACE;
    if (state == NULL || receive == MPI_IN_PLACE || !types_layout(type, &in))
        return false;
    struct call call = {
        .collective = COLL_ALLGATHER, .bytes = types_bytes(count, &in), .send = send, .receive = receive};
    if (!in_place && (!types_layout(send_type, &out) || types_bytes(send_count, &out) != call.bytes))
        return false;
    bool packs = !in.contiguous || (!in_place && !out.contiguous);
    int64_t all = call.bytes > SERVE_LONGEST ? 0 : state->ranks * call.bytes;
    enum packing packing = serve_packing(state, &call, all, packs ? PACKS_WHOLE : PACKS_NOTHING);
    const struct implementation *ours = serve_choose(state, &call, packing == PACKS_NOTHING, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm own = state->ours->comm;
    if (!in.contiguous)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, state->ranks * call.bytes, &call.receive);
    char *place = (char *)call.receive + state->rank * call.bytes;
    if (in_place) {
        call.send = place;
        if (failed == MPI_SUCCESS && !in.contiguous)
            failed = pack(element(receive, state->rank * count, &in), count, type, &in, place, own);
    } else if (!out.contiguous || (send == receive && send != place)) {
        void *room = NULL;
        failed = failed != MPI_SUCCESS ? failed : serve_room(state, SCRATCH_PACK_SEND, call.bytes, &room);
        if (failed == MPI_SUCCESS)
            failed = pack(send, send_count, send_type, &out, room, own);
        call.send = room;
    }
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && !in.contiguous)
        failed = unpack(call.receive, receive, state->ranks * count, type, &in, own);
    return serve_end(state, failed, error);
}
