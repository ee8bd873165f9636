/* The calls with a length for each rank; see calls.c. */
#include "dispatch.h"
#include "pack.h"
#include "serve.h"

/* The blocks of one side of a call, by rank. */
struct blocks {
    const struct dispatch_vector *given; /* elements, as the program said */
    MPI_Datatype type;
    struct layout layout;
    int64_t *bytes, *at;                 /* where they are in contiguous memory */
};

static int64_t count_of(const struct blocks *blocks, int rank)
{
    const struct dispatch_vector *given = blocks->given;
    return given->counts != NULL ? given->counts[rank] : (int64_t)given->long_counts[rank];
}

/* Bytes from the beginning of the program's memory. */
static int64_t place_of(const struct blocks *blocks, int rank)
{
    const struct dispatch_vector *given = blocks->given;
    return (given->at != NULL ? given->at[rank] : (int64_t)given->long_at[rank]) * blocks->layout.extent;
}

static bool are_given(const struct dispatch_vector *given)
{
    return (given->counts != NULL && given->at != NULL) || (given->long_counts != NULL && given->long_at != NULL);
}

/* One after the other; the total, or -1 where a count is none. *longest: of the blocks. */
static int64_t arrange(struct blocks *blocks, int ranks, int64_t *longest)
{
    int64_t total = 0;
    *longest = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t bytes = types_bytes(count_of(blocks, rank), &blocks->layout);
        blocks->bytes[rank] = bytes;
        blocks->at[rank] = total;
        if (bytes < 0 || __builtin_add_overflow(total, bytes, &total))
            return -1;
        *longest = bytes > *longest ? bytes : *longest;
    }
    return total;
}

static int pack_block(const struct blocks *blocks, const void *buffer, int rank, void *to, MPI_Comm comm)
{
    return pack((const char *)buffer + place_of(blocks, rank), count_of(blocks, rank), blocks->type, &blocks->layout, to,
                comm);
}

static int unpack_all(const struct blocks *blocks, int ranks, const void *from, void *buffer, MPI_Comm comm)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < ranks && failed == MPI_SUCCESS; rank++)
        failed = unpack((const char *)from + blocks->at[rank], (char *)buffer + place_of(blocks, rank),
                        count_of(blocks, rank), blocks->type, &blocks->layout, comm);
    return failed;
}

static int pack_all(const struct blocks *blocks, int ranks, const void *buffer, void *to, MPI_Comm comm)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < ranks && failed == MPI_SUCCESS; rank++)
        failed = pack_block(blocks, buffer, rank, (char *)to + blocks->at[rank], comm);
    return failed;
}

/* Whether the program's memory is arranged as `at` says. */
static bool is_arranged(const struct blocks *blocks, int ranks)
{
    if (!blocks->layout.contiguous)
        return false;
    for (int rank = 0; rank < ranks; rank++)
        if (blocks->bytes[rank] > 0 && place_of(blocks, rank) != blocks->at[rank])
            return false;
    return true;
}

/* Displacements are each rank's own affair, so the algorithms are given blocks that follow one another. */
bool dispatch_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                         struct dispatch_vector given, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    struct blocks blocks = {.given = &given, .type = type};
    struct layout out;
    bool in_place = send == MPI_IN_PLACE;
    if (state == NULL || receive == MPI_IN_PLACE || !are_given(&given) || !types_layout(type, &blocks.layout) ||
        state_vectors(state) == NULL)
        return false;
    blocks.bytes = state->vectors;
    blocks.at = state->vectors + state->ranks;
    int64_t longest, total = arrange(&blocks, state->ranks, &longest);
    if (total < 0 || (!in_place && (!types_layout(send_type, &out) ||
                                    types_bytes(send_count, &out) != blocks.bytes[state->rank])))
        return false;
    struct call call = {.collective = COLL_ALLGATHERV, .send = send, .receive = receive,
                        .bytes = (total + state->ranks - 1) / state->ranks,
                        .receive_bytes = blocks.bytes, .receive_at = blocks.at};
    const struct implementation *ours = serve_choose(state, &call, longest <= SERVE_LONGEST, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm own = state->ours->comm;
    bool direct = is_arranged(&blocks, state->ranks);
    if (!direct)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, total, &call.receive);
    char *place = (char *)call.receive + blocks.at[state->rank];
    if (in_place) {
        call.send = place;
        if (failed == MPI_SUCCESS && !direct)
            failed = pack_block(&blocks, receive, state->rank, place, own);
    } else if (!out.contiguous || (send == receive && send != place)) {
        void *room = NULL;
        failed = failed != MPI_SUCCESS ? failed : serve_room(state, SCRATCH_PACK_SEND, blocks.bytes[state->rank], &room);
        if (failed == MPI_SUCCESS)
            failed = pack(send, send_count, send_type, &out, room, own);
        call.send = room;
    }
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && !direct)
        failed = unpack_all(&blocks, state->ranks, call.receive, receive, own);
    return serve_end(state, failed, error);
}

/* Where data is contiguous it stays where it is. */
static void leave(struct blocks *blocks, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        blocks->at[rank] = place_of(blocks, rank);
}

bool dispatch_alltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                        struct dispatch_vector given, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct state *state = state_find(*comm);
    bool copied = send == MPI_IN_PLACE || send == receive;
    if (send == MPI_IN_PLACE)
        send = receive, send_given = given, send_type = type;
    struct blocks out = {.given = &send_given, .type = send_type}, in = {.given = &given, .type = type};
    if (state == NULL || receive == MPI_IN_PLACE || !are_given(&given) || !are_given(&send_given) ||
        !types_layout(type, &in.layout) || !types_layout(send_type, &out.layout) || state_vectors(state) == NULL)
        return false;
    out.bytes = state->vectors;
    out.at = out.bytes + state->ranks;
    in.bytes = out.at + state->ranks;
    in.at = in.bytes + state->ranks;
    int64_t longest, out_total = arrange(&out, state->ranks, &longest), in_total = arrange(&in, state->ranks, &longest);
    if (out_total < 0 || in_total < 0 || out.bytes[state->rank] != in.bytes[state->rank])
        return false;
    struct call call = {.collective = COLL_ALLTOALLV, .send = send, .receive = receive, .send_bytes = out.bytes,
                        .send_at = out.at, .receive_bytes = in.bytes, .receive_at = in.at};
    const struct implementation *ours = serve_choose(state, &call, true, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm own = state->ours->comm;
    if (copied || !out.layout.contiguous) {
        void *room = NULL;
        failed = serve_room(state, SCRATCH_PACK_SEND, out_total, &room);
        if (failed == MPI_SUCCESS)
            failed = pack_all(&out, state->ranks, send, room, own);
        call.send = room;
    } else {
        leave(&out, state->ranks);
    }
    if (in.layout.contiguous)
        leave(&in, state->ranks);
    else if (failed == MPI_SUCCESS)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, in_total, &call.receive);
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && !in.layout.contiguous)
        failed = unpack_all(&in, state->ranks, call.receive, receive, own);
    return serve_end(state, failed, error);
}
