/* Alltoall; see calls.c. In place, and where a rank has to pack much, it goes in pieces. */
#include <string.h>

#include "dispatch.h"
#include "pack.h"
#include "serve.h"
#include "stream.h"

/* One side of a call. */
struct side {
    char *data;
    MPI_Count count; /* elements for one rank */
    MPI_Datatype type;
    struct layout layout;
};

/* Bytes of each block that go at a time, the same on all ranks: pieces of about the same length. */
static int64_t piece_of(const struct comm_state *state, int64_t bytes)
{
    int64_t most = SERVE_WINDOW / state->ranks;
    if (bytes <= most || most < SERVE_PIECE)
        return bytes;
    int64_t pieces = (bytes + most - 1) / most;
    return (bytes + pieces - 1) / pieces;
}

static struct stream stream_of(const struct comm_state *state, const struct side *side, int rank, char *room,
                               int64_t piece)
{
    return (struct stream){.place = side->data + rank * side->count * side->layout.extent,
                           .type = side->type,
                           .layout = &side->layout,
                           .comm = state->ours->comm,
                           .spare = room + state->ranks * piece + rank * side->layout.size};
}

/* Pieces one after the other, and after them an element for each rank where they may be cut. */
static int64_t room_for(const struct comm_state *state, const struct side *side, int64_t piece, int64_t bytes)
{
    return state->ranks * (piece + (side->layout.contiguous || piece == bytes ? 0 : side->layout.size));
}

/* Between the program's memory and the room. */
static int move(const struct comm_state *state, const struct side *side, int64_t at, int64_t now, char *room,
                int64_t piece, bool leaves)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < state->ranks && failed == MPI_SUCCESS; rank++) {
        const struct stream stream = stream_of(state, side, rank, room, piece);
        failed = leaves ? stream_pack(&stream, at, now, room + rank * now)
                        : stream_unpack(&stream, at, now, room + rank * now);
    }
    return failed;
}

/* Blocks of `bytes`, in pieces of call->bytes. */
static int run_pieces(struct comm_state *state, const struct call *call, const struct implementation *ours,
                      const struct side *out, const struct side *in, int64_t bytes)
{
    void *leaving = NULL, *coming = NULL;
    int64_t piece = call->bytes;
    int failed = serve_room(state, SCRATCH_PACK_SEND, room_for(state, out, piece, bytes), &leaving);
    if (failed == MPI_SUCCESS)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, room_for(state, in, piece, bytes), &coming);
    for (int64_t at = 0; at < bytes && failed == MPI_SUCCESS; at += piece) {
        int64_t now = bytes - at < piece ? bytes - at : piece;
        const struct call one = {.collective = COLL_ALLTOALL, .bytes = now, .send = leaving, .receive = coming};
        failed = move(state, out, at, now, leaving, piece, true);
        if (failed == MPI_SUCCESS)
            failed = serve_run(state, &one, ours);
        if (failed == MPI_SUCCESS)
            failed = move(state, in, at, now, coming, piece, false);
    }
    return failed;
}

/* What is not contiguous is packed at once. */
static int run_whole(struct comm_state *state, struct call *call, const struct implementation *ours,
                     const struct side *out, const struct side *in)
{
    int64_t all = state->ranks * call->bytes;
    int failed = MPI_SUCCESS;
    MPI_Comm own = state->ours->comm;
    if (call->send == call->receive || !out->layout.contiguous) {
        void *room = NULL;
        failed = serve_room(state, SCRATCH_PACK_SEND, all, &room);
        if (failed == MPI_SUCCESS)
            failed = pack(call->send, state->ranks * out->count, out->type, &out->layout, room, own);
        call->send = room;
    }
    if (failed == MPI_SUCCESS && !in->layout.contiguous)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, all, &call->receive);
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, call, ours);
    if (failed == MPI_SUCCESS && !in->layout.contiguous)
        failed = unpack(call->receive, in->data, state->ranks * in->count, in->type, &in->layout, own);
    return failed;
}

/* What this rank has to pack, not counting what all do in place. An element for each rank is kept where pieces cut it. */
static enum packing own_packing(const struct side *out, const struct side *in, bool in_place, int64_t piece,
                                int64_t bytes)
{
    int64_t element = out->data == in->data && !in_place ? 1 : 0;
    if (!out->layout.contiguous)
        element = out->layout.size;
    if (!in->layout.contiguous && in->layout.size > element)
        element = in->layout.size;
    if (element == 0)
        return PACKS_NOTHING;
    return piece < bytes && element <= piece / 4 ? PACKS_PIECES : PACKS_WHOLE;
}

static bool is_cut_well(const struct comm_state *state, const struct implementation *ours, int64_t piece, int64_t bytes)
{
    const struct shape last = {.bytes = bytes % piece > 0 ? bytes % piece : piece, .commutative = true};
    return algorithm_applies(ours->algorithm, state->ours, &last);
}

bool dispatch_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLTOALL);
    struct side in = {.data = receive, .count = count, .type = type}, out;
    if (state == NULL || receive == MPI_IN_PLACE || !types_layout(type, &in.layout))
        return false;
    bool in_place = send == MPI_IN_PLACE; /* on all ranks or none */
    int64_t bytes = types_bytes(count, &in.layout), piece = piece_of(state, bytes);
    out = in;
    if (!in_place) {
        out = (struct side){.data = (char *)(uintptr_t)send, .count = send_count, .type = send_type};
        if (!types_layout(send_type, &out.layout) || types_bytes(send_count, &out.layout) != bytes)
            return false;
    }
    struct call call = {
        .collective = COLL_ALLTOALL, .bytes = in_place ? piece : bytes, .send = send, .receive = receive};
    int64_t all = state->ranks * (bytes > SERVE_LONGEST ? SERVE_LONGEST + 1 : bytes);
    enum packing packing = serve_packing(state, &call, all, own_packing(&out, &in, in_place, piece, bytes));
    bool in_pieces = in_place || packing == PACKS_PIECES;
    call.bytes = in_pieces ? piece : bytes;
    bool possible = packing != PACKS_WHOLE && (!in_pieces || state->ranks * piece <= SERVE_WINDOW);
    const struct implementation *ours = serve_choose(state, &call, possible, comm);
    if (ours == NULL || (in_pieces && !is_cut_well(state, ours, piece, bytes)))
        return false;
    int failed =
        in_pieces ? run_pieces(state, &call, ours, &out, &in, bytes) : run_whole(state, &call, ours, &out, &in);
    return serve_end(state, failed, error);
}
