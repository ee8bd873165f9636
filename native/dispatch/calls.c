/* The calls that can be served: from a program's arguments to contiguous bytes and back.
 *
 * What is chosen depends on values that are equal on all ranks: count times size, never a type or where it is. Arguments
 * that MPI forbids are left to the MPI library, which says so. */
#include <string.h>

#include "dispatch.h"
#include "job.h"
#include "pack.h"
#include "reduction.h"
#include "serve.h"
#include "state.h"

/* Where element number `index` is. */
static char *element(const void *buffer, int64_t index, const struct layout *layout)
{
    return (char *)(uintptr_t)buffer + index * layout->extent;
}

bool dispatch_barrier(MPI_Comm *comm, int *error)
{
    struct call call = {.collective = COLL_BARRIER};
    struct state *state = state_find(*comm);
    const struct implementation *ours = state != NULL ? serve_choose(state, &call, true, comm) : NULL;
    return ours != NULL && serve(state, &call, ours, error);
}

bool dispatch_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    struct layout layout;
    if (state == NULL || root < 0 || root >= state->ranks || buffer == MPI_IN_PLACE || !types_layout(type, &layout))
        return false;
    struct call call = {.collective = COLL_BCAST, .root = root, .bytes = types_bytes(count, &layout), .receive = buffer};
    const struct implementation *ours = serve_choose(state, &call, true, comm);
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

/* reduce and allreduce: types with gaps are not served by us, so there is nothing to pack. */
static bool combine(struct state *state, struct call *call, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm *comm, int *error)
{
    struct layout layout;
    if (call->send == MPI_IN_PLACE)
        call->send = call->receive;
    if (call->receive == MPI_IN_PLACE || !types_layout(type, &layout) || types_op(layout.kind, op) == OP_FORBIDDEN)
        return false;
    call->count = count;
    call->bytes = types_bytes(count, &layout);
    bool possible = layout.size == layout.extent && serve_reduction(state, &call->reduction, type, op, &layout);
    const struct implementation *ours = serve_choose(state, call, possible, comm);
    return ours != NULL && serve(state, call, ours, error);
}

bool dispatch_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                     MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    if (state == NULL || root < 0 || root >= state->ranks || (send == MPI_IN_PLACE && state->rank != root))
        return false;
    struct call call = {.collective = COLL_REDUCE, .root = root, .send = send};
    call.receive = state->rank == root ? receive : NULL;
    return combine(state, &call, count, type, op, comm, error);
}

bool dispatch_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                        int *error)
{
    struct state *state = state_find(*comm);
    struct call call = {.collective = COLL_ALLREDUCE, .send = send, .receive = receive};
    return state != NULL && combine(state, &call, count, type, op, comm, error);
}

bool dispatch_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    struct layout in, out;
    bool in_place = send == MPI_IN_PLACE;
    if (state == NULL || receive == MPI_IN_PLACE || !types_layout(type, &in))
        return false;
    struct call call = {.collective = COLL_ALLGATHER, .bytes = types_bytes(count, &in), .send = send, .receive = receive};
    if (!in_place && (!types_layout(send_type, &out) || types_bytes(send_count, &out) != call.bytes))
        return false;
    const struct implementation *ours = serve_choose(state, &call, true, comm);
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

/* Bytes of each block that an alltoall in place moves at a time, the same on all ranks: pieces of about the same length. */
static int64_t piece_in_place(const struct state *state, int64_t bytes)
{
    int64_t most = SERVE_COPIED / 2 / state->ranks;
    if (bytes <= most || most < SERVE_PIECE)
        return bytes;
    int64_t pieces = (bytes + most - 1) / most;
    return (bytes + pieces - 1) / pieces;
}

static void copy_pieces(char *to, int64_t to_apart, const char *from, int64_t from_apart, int64_t bytes, int blocks)
{
    for (int i = 0; i < blocks; i++)
        memcpy(to + i * to_apart, from + i * from_apart, (size_t)bytes);
}

/* `blocks`: of all ranks, `bytes` each, one after the other; what they send becomes what they receive. */
static int alltoall_in_place(struct state *state, const struct call *call, const struct implementation *ours,
                             char *blocks, int64_t bytes)
{
    void *out = NULL, *in = NULL;
    int64_t piece = call->bytes;
    int failed = serve_room(state, SCRATCH_PACK_SEND, state->ranks * piece, &out);
    if (failed == MPI_SUCCESS)
        failed = serve_room(state, SCRATCH_IN_PLACE, state->ranks * piece, &in);
    for (int64_t at = 0; at < bytes && failed == MPI_SUCCESS; at += piece) {
        int64_t now = bytes - at < piece ? bytes - at : piece;
        const struct call one = {.collective = COLL_ALLTOALL, .bytes = now, .send = out, .receive = in};
        copy_pieces(out, now, blocks + at, bytes, now, state->ranks);
        failed = serve_run(state, &one, ours);
        if (failed == MPI_SUCCESS)
            copy_pieces(blocks + at, bytes, in, now, now, state->ranks);
    }
    return failed;
}

/* All ranks are in place or none. */
static bool dispatch_in_place(struct state *state, void *receive, MPI_Count count, MPI_Datatype type,
                              const struct layout *layout, MPI_Comm *comm, int *error)
{
    int64_t bytes = types_bytes(count, layout), piece = piece_in_place(state, bytes);
    struct call call = {.collective = COLL_ALLTOALL, .bytes = piece};
    bool possible = state->ranks * piece <= SERVE_COPIED;
    const struct shape last = {.bytes = piece > 0 && bytes % piece > 0 ? bytes % piece : piece, .commutative = true};
    const struct implementation *ours = serve_choose(state, &call, possible, comm);
    if (ours == NULL || !algorithm_applies(ours->algorithm, state->ours, &last))
        return false;
    void *blocks = receive;
    int failed = MPI_SUCCESS;
    if (!layout->contiguous) { /* where a piece ends within an element, it cannot be packed alone */
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, state->ranks * bytes, &blocks);
        if (failed == MPI_SUCCESS)
            failed = pack(receive, state->ranks * count, type, layout, blocks, state->ours->comm);
    }
    if (failed == MPI_SUCCESS)
        failed = alltoall_in_place(state, &call, ours, blocks, bytes);
    if (failed == MPI_SUCCESS && !layout->contiguous)
        failed = unpack(blocks, receive, state->ranks * count, type, layout, state->ours->comm);
    return serve_end(state, failed, error);
}

bool dispatch_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    struct layout in, out;
    if (state == NULL || receive == MPI_IN_PLACE || !types_layout(type, &in))
        return false;
    struct call call = {.collective = COLL_ALLTOALL, .bytes = types_bytes(count, &in), .send = send, .receive = receive};
    if (send == MPI_IN_PLACE)
        return dispatch_in_place(state, receive, count, type, &in, comm, error);
    if (!types_layout(send_type, &out) || types_bytes(send_count, &out) != call.bytes)
        return false;
    int64_t all = state->ranks * call.bytes;
    const struct implementation *ours = serve_choose(state, &call, true, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    if (send == receive || !out.contiguous) {
        void *room = NULL;
        failed = serve_room(state, SCRATCH_PACK_SEND, all, &room);
        if (failed == MPI_SUCCESS)
            failed = pack(send, state->ranks * send_count, send_type, &out, room, state->ours->comm);
        call.send = room;
    }
    if (failed == MPI_SUCCESS && !in.contiguous)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, all, &call.receive);
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && !in.contiguous)
        failed = unpack(call.receive, receive, state->ranks * count, type, &in, state->ours->comm);
    return serve_end(state, failed, error);
}
