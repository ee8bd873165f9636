/* Gatherv and scatterv; see calls.c.
 *
 * The root alone knows the lengths of all blocks, others their own, and nobody what others have to pack. A gatherv or
 * scatterv is no more than a message between the root and each rank, of which both know the length; so, as in an
 * alltoallv, on one node all calls go in pieces of each block, whose length follows from the number of ranks, and nobody
 * waits for whom it has nothing to do with. Over several nodes ranks ask one another now and then whether one packs too
 * much, and then go in pieces too. */
#include "dispatch.h"
#include "serve.h"
#include "stream.h"
#include "vectors.h"

/* All blocks, which the root has, or this rank's own: how many bytes, and where they are in `data`, or a piece of them in
 * `room`. */
struct part {
    struct blocks blocks; /* of the root; else `given` is NULL */
    int64_t count;        /* elements, of an own block */
    char *data, *room;
    bool packs; /* by way of `room` */
    int64_t longest, total;
};

static int64_t clamped(int64_t bytes, int64_t from, int64_t piece)
{
    return bytes <= from ? 0 : bytes - from < piece ? bytes - from : piece;
}

static int64_t bytes_of(const struct part *part, int rank)
{
    return types_bytes(part->blocks.given != NULL ? vectors_count(&part->blocks, rank) : part->count,
                       &part->blocks.layout);
}

static int64_t place_of(const struct part *part, int rank)
{
    return part->blocks.given != NULL ? vectors_place(&part->blocks, rank) : 0;
}

/* Of the root's: whether all counts are some; the block in place is nobody's. */
static bool measure(struct part *all, const struct comm_state *state, bool in_place)
{
    for (int rank = 0; rank < state->ranks; rank++) {
        int64_t bytes = bytes_of(all, rank);
        if (bytes < 0 || __builtin_add_overflow(all->total, bytes, &all->total))
            return false;
        if (!(in_place && rank == state->rank))
            all->longest = bytes > all->longest ? bytes : all->longest;
    }
    return true;
}

/* Bytes of a piece in the room, behind which an element has its place that a piece cuts. */
static int64_t room_of(const struct part *part, int64_t bytes, int64_t piece)
{
    return bytes <= piece ? bytes : piece + (part->blocks.layout.contiguous ? 0 : part->blocks.layout.size);
}

static int make_room(struct comm_state *state, struct part *part, int which, int64_t piece)
{
    int64_t bytes = 0;
    void *room = NULL;
    if (!part->packs)
        return MPI_SUCCESS;
    for (int rank = 0; rank < state->ranks && part->blocks.given != NULL; rank++)
        bytes += room_of(part, bytes_of(part, rank), piece);
    int failed =
        serve_room(state, which, part->blocks.given != NULL ? bytes : room_of(part, bytes_of(part, 0), piece), &room);
    part->room = room;
    return failed;
}

/* Bytes [from, from + piece) of each of the root's blocks, and where they are. */
static void arrange(struct part *all, const struct comm_state *state, bool in_place, int64_t from, int64_t piece)
{
    int64_t next = 0;
    for (int rank = 0; rank < state->ranks; rank++) {
        int64_t bytes = bytes_of(all, rank);
        all->blocks.bytes[rank] = in_place && rank == state->rank ? 0 : clamped(bytes, from, piece);
        all->blocks.at[rank] = all->packs ? next : place_of(all, rank) + from;
        next += room_of(all, bytes, piece);
    }
}

/* A piece of one block, between the program's memory and the room. */
static int move(const struct comm_state *state, const struct part *part, int rank, int64_t from, int64_t bytes,
                char *room, int64_t piece, bool leaves)
{
    const struct stream stream = {.place = part->data + place_of(part, rank),
                                  .type = part->blocks.type,
                                  .layout = &part->blocks.layout,
                                  .comm = state->ours->comm,
                                  .spare = room + (piece < INT64_MAX ? piece : 0)};
    return leaves ? stream_pack(&stream, from, bytes, room) : stream_unpack(&stream, from, bytes, room);
}

static int move_all(const struct comm_state *state, const struct part *all, int64_t from, int64_t piece, bool leaves)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < state->ranks && failed == MPI_SUCCESS && all->packs; rank++)
        failed = move(state, all, rank, from, all->blocks.bytes[rank], all->room + all->blocks.at[rank], piece, leaves);
    return failed;
}

static int64_t piece_of(struct comm_state *state, const struct part *all, const struct part *own)
{
    const int64_t share = SERVE_WINDOW / state->ranks, piece = share > SERVE_PIECE ? share : SERVE_PIECE;
    if (state->ours->topology.nodes == 1)
        return piece;
    if (serve_turn(&state->rooted_gaps)) {
        int64_t packed = (all->packs ? all->total : 0) + (own->packs ? own->longest : 0);
        state->rooted_gaps.found = serve_most(state, packed > SERVE_WINDOW) != 0;
        return state->rooted_gaps.found ? piece : INT64_MAX;
    }
    return INT64_MAX;
}

static int run(struct comm_state *state, struct call *call, const struct implementation *ours, struct part *all,
               struct part *own, bool in_place)
{
    const bool is_root = state->rank == call->root, gathers = call->collective == COLL_GATHERV;
    const int64_t piece = piece_of(state, all, own),
                  longest = is_root && all->longest > own->longest ? all->longest : own->longest;
    int failed = make_room(state, own, gathers ? SCRATCH_PACK_SEND : SCRATCH_PACK_RECEIVE, piece);
    if (failed == MPI_SUCCESS && is_root)
        failed = make_room(state, all, gathers ? SCRATCH_PACK_RECEIVE : SCRATCH_PACK_SEND, piece);
    for (int64_t from = 0; failed == MPI_SUCCESS; from += piece) {
        char *mine = own->packs ? own->room : own->data + from, *theirs = all->packs ? all->room : all->data;
        call->own = in_place ? 0 : clamped(own->longest, from, piece);
        call->send = gathers ? mine : theirs;
        call->receive = gathers ? theirs : mine;
        if (is_root)
            arrange(all, state, in_place, from, piece);
        if (gathers && own->packs)
            failed = move(state, own, state->rank, from, call->own, mine, piece, true);
        else if (!gathers && is_root)
            failed = move_all(state, all, from, piece, true);
        if (failed == MPI_SUCCESS)
            failed = serve_run(state, call, ours);
        if (failed == MPI_SUCCESS && !gathers && own->packs)
            failed = move(state, own, state->rank, from, call->own, mine, piece, false);
        else if (failed == MPI_SUCCESS && gathers && is_root)
            failed = move_all(state, all, from, piece, false);
        if (longest - from <= piece)
            break;
    }
    return failed;
}

/* `own` and `all` say what the program gave; what it gave for all blocks counts on the root alone. */
static bool rooted(enum collective collective, struct part *all, struct part *own, int root, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, collective);
    const bool is_root = state != NULL && state->rank == root, in_place = own->data == MPI_IN_PLACE;
    if (state == NULL || root < 0 || root >= state->ranks || (in_place && !is_root) ||
        comm_state_vectors(state) == NULL)
        return false;
    if (!in_place) {
        if (!types_layout(own->blocks.type, &own->blocks.layout) || (own->longest = bytes_of(own, 0)) < 0)
            return false;
        own->packs = !own->blocks.layout.contiguous || (is_root && own->data == all->data);
    }
    if (is_root) {
        all->blocks.bytes = state->vectors, all->blocks.at = state->vectors + state->ranks;
        if (all->data == MPI_IN_PLACE || !vectors_given(all->blocks.given) ||
            !types_layout(all->blocks.type, &all->blocks.layout) || !measure(all, state, in_place) ||
            (!in_place && bytes_of(all, root) != own->longest))
            return false;
        all->packs = !all->blocks.layout.contiguous;
    } else
        *all = (struct part){.data = NULL};
    struct call call = {.collective = collective,
                        .root = root,
                        .receive_bytes = all->blocks.bytes,
                        .receive_at = all->blocks.at,
                        .send_bytes = all->blocks.bytes,
                        .send_at = all->blocks.at};
    const struct implementation *ours = serve_choose(state, &call, true, comm);
    return ours != NULL && serve_end(state, run(state, &call, ours, all, own, in_place), error);
}

bool dispatch_gatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                      struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct part own = {.blocks = {.type = send_type}, .data = (char *)(uintptr_t)send, .count = send_count};
    struct part all = {.blocks = {.given = &given, .type = type}, .data = receive};
    return rooted(COLL_GATHERV, &all, &own, root, comm, error);
}

bool dispatch_scatterv(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                       MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct part own = {.blocks = {.type = type}, .data = receive, .count = count};
    struct part all = {.blocks = {.given = &given, .type = send_type}, .data = (char *)(uintptr_t)send};
    return rooted(COLL_SCATTERV, &all, &own, root, comm, error);
}
