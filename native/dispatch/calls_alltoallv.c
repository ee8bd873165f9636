/* Alltoallv; see calls.c.
 *
 * Nobody knows the lengths of others' blocks, nor what they have to pack. So on one node every call goes in pieces of
 * each block, whose length follows from the number of ranks: a rank packs one piece of each at a time, and calls the
 * algorithm until its own longest block is through. Ranks need not agree how often that is, as on one node an
 * alltoallv is no more than messages between two ranks, who know the length of what goes between them; where it is
 * nothing they do not wait for each other. Over several nodes ranks do more for one another: there ranks agree whether one
 * would take too much memory, and then on as many pieces: at every call in place, which all know to be one, and of an
 * algorithm that keeps what its node sends; because of gaps, of which nobody knows, at the first call and ever more rarely
 * until there is one, so that most calls need not agree. */
#include <string.h>

#include "dispatch.h"
#include "serve.h"
#include "stream.h"
#include "vectors.h"

/* One side of a call, and how it goes. */
struct side {
    struct blocks blocks; /* of the piece that goes: lengths, and where they are in `data` or in `room` */
    char *data;
    bool packs;           /* by way of `room` */
    char *room;
    int64_t longest, total; /* of the whole blocks */
};

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t bytes_of(const struct side *side, int rank)
{
    return types_bytes(vectors_count(&side->blocks, rank), &side->blocks.layout);
}

/* Arranges the blocks as they are with the program. False: a count is none, or all are too many. */
static bool is_possible(struct side *side, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        int64_t bytes = bytes_of(side, rank);
        side->blocks.bytes[rank] = bytes;
        side->blocks.at[rank] = vectors_place(&side->blocks, rank);
        if (bytes < 0 || __builtin_add_overflow(side->total, bytes, &side->total))
            return false;
        side->longest = bytes > side->longest ? bytes : side->longest;
    }
    return true;
}

/* Room for a piece of every block, and for an element of each that is longer. */
static int make_room(struct state *state, struct side *side, int which, int64_t piece)
{
    int64_t all = 0;
    void *room = NULL;
    if (!side->packs)
        return MPI_SUCCESS;
    for (int rank = 0; rank < state->ranks; rank++) {
        int64_t bytes = bytes_of(side, rank);
        all += bytes <= piece ? bytes : piece + (side->blocks.layout.contiguous ? 0 : side->blocks.layout.size);
    }
    int failed = serve_room(state, which, all, &room);
    side->room = room;
    return failed;
}

/* Bytes [from, from + piece) of every block. */
static void arrange(struct side *side, int ranks, int64_t from, int64_t piece)
{
    struct blocks *blocks = &side->blocks;
    int64_t next = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t bytes = bytes_of(side, rank);
        blocks->bytes[rank] = bytes > from ? least(bytes - from, piece) : 0;
        blocks->at[rank] = side->packs ? next : vectors_place(blocks, rank) + from;
        next += bytes <= piece ? bytes : piece + (blocks->layout.contiguous ? 0 : blocks->layout.size);
    }
}

/* Between the program's memory and the room. */
static int move(const struct state *state, const struct side *side, int64_t from, int64_t piece, bool leaves)
{
    const struct blocks *blocks = &side->blocks;
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < state->ranks && failed == MPI_SUCCESS && side->packs; rank++) {
        char *room = side->room + blocks->at[rank];
        const struct stream stream = {.place = side->data + vectors_place(blocks, rank), .type = blocks->type,
                                      .layout = &blocks->layout, .comm = state->ours->comm, .spare = room + piece};
        failed = (leaves ? stream_pack(&stream, from, blocks->bytes[rank], room)
                         : stream_unpack(&stream, from, blocks->bytes[rank], room));
    }
    return failed;
}

/* Over several nodes, whether the call goes in pieces. */
static bool is_cut(struct state *state, const struct algorithm *algorithm, const struct side *out, const struct side *in,
                   bool in_place)
{
    bool always = in_place || algorithm->collects != NULL;
    if (!always && !serve_turn(&state->gaps))
        return false;
    int64_t packed = (out->packs ? out->total : 0) + (in->packs ? in->total : 0);
    bool much = packed > SERVE_WINDOW ||
                (algorithm->collects != NULL && (out->total > SERVE_WINDOW || in->total > SERVE_WINDOW));
    bool found = serve_most(state, much) != 0;
    if (!always)
        state->gaps.found = found;
    return found;
}

/* Bytes of each block that go at a time. */
static int64_t piece_of(const struct state *state, const struct algorithm *algorithm)
{
    const struct shape unit = {.bytes = 1, .element = 1, .commutative = true};
    int64_t share = SERVE_WINDOW / state->ranks, kept = algorithm->collects != NULL ? algorithm->collects(state->ours, &unit) : 0;
    int64_t piece = share > SERVE_PIECE ? share : SERVE_PIECE;
    if (kept * piece <= SERVE_WINDOW)
        return piece;
    return SERVE_WINDOW / kept > SERVE_KEPT ? SERVE_WINDOW / kept : SERVE_KEPT;
}

static int run(struct state *state, const struct implementation *ours, struct side *out, struct side *in, bool in_place)
{
    int64_t longest = out->longest > in->longest ? out->longest : in->longest;
    int64_t piece = piece_of(state, ours->algorithm);
    if (state->ours->topology.nodes > 1) {
        if (is_cut(state, ours->algorithm, out, in, in_place))
            longest = serve_most(state, longest);
        else
            piece = INT64_MAX;
    }
    int failed = make_room(state, out, SCRATCH_PACK_SEND, piece);
    if (failed == MPI_SUCCESS)
        failed = make_room(state, in, SCRATCH_PACK_RECEIVE, piece);
    const struct call call = {.collective = COLL_ALLTOALLV, .send = out->packs ? out->room : out->data,
                              .receive = in->packs ? in->room : in->data,
                              .send_bytes = out->blocks.bytes, .send_at = out->blocks.at,
                              .receive_bytes = in->blocks.bytes, .receive_at = in->blocks.at};
    if (longest <= piece && !out->packs && !in->packs)
        return serve_run(state, &call, ours);
    for (int64_t from = 0; failed == MPI_SUCCESS; from += piece) {
        arrange(out, state->ranks, from, piece);
        arrange(in, state->ranks, from, piece);
        failed = move(state, out, from, piece, true);
        if (failed == MPI_SUCCESS)
            failed = serve_run(state, &call, ours);
        if (failed == MPI_SUCCESS)
            failed = move(state, in, from, piece, false);
        if (longest - from <= piece)
            break;
    }
    return failed;
}

bool dispatch_alltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                        struct dispatch_vector given, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    bool in_place = send == MPI_IN_PLACE; /* on all ranks or none */
    if (in_place)
        send = receive, send_given = given, send_type = type;
    struct side out = {.blocks = {.given = &send_given, .type = send_type}, .data = (char *)(uintptr_t)send};
    struct side in = {.blocks = {.given = &given, .type = type}, .data = receive};
    if (state == NULL || receive == MPI_IN_PLACE || !vectors_given(&given) || !vectors_given(&send_given) ||
        !types_layout(type, &in.blocks.layout) || !types_layout(send_type, &out.blocks.layout) ||
        state_vectors(state) == NULL)
        return false;
    out.packs = send == receive || !out.blocks.layout.contiguous;
    in.packs = !in.blocks.layout.contiguous;
    out.blocks.bytes = state->vectors;
    out.blocks.at = out.blocks.bytes + state->ranks;
    in.blocks.bytes = out.blocks.at + state->ranks;
    in.blocks.at = in.blocks.bytes + state->ranks;
    if (!is_possible(&out, state->ranks) || !is_possible(&in, state->ranks) ||
        out.blocks.bytes[state->rank] != in.blocks.bytes[state->rank])
        return false;
    const struct call call = {.collective = COLL_ALLTOALLV};
    const struct implementation *ours = serve_choose(state, &call, true, comm);
    if (ours == NULL)
        return false;
    return serve_end(state, run(state, ours, &out, &in, in_place), error);
}
