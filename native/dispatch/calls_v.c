/* Allgatherv; see calls.c. */
#include "dispatch.h"
#include "pack.h"
#include "serve.h"
#include "vectors.h"

/* One after the other; the total, or -1 where a count is none. *longest: of the blocks. */
static int64_t arrange(struct blocks *blocks, int ranks, int64_t *longest)
{
    int64_t total = 0;
    *longest = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t bytes = types_bytes(vectors_count(blocks, rank), &blocks->layout);
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
    return pack((const char *)buffer + vectors_place(blocks, rank), vectors_count(blocks, rank), blocks->type,
                &blocks->layout, to, comm);
}

static int unpack_all(const struct blocks *blocks, int ranks, const void *from, void *buffer, MPI_Comm comm)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < ranks && failed == MPI_SUCCESS; rank++)
        failed = unpack((const char *)from + blocks->at[rank], (char *)buffer + vectors_place(blocks, rank),
                        vectors_count(blocks, rank), blocks->type, &blocks->layout, comm);
    return failed;
}

/* Whether the program's memory is arranged as `at` says. */
static bool is_arranged(const struct blocks *blocks, int ranks)
{
    if (!blocks->layout.contiguous)
        return false;
    for (int rank = 0; rank < ranks; rank++)
        if (blocks->bytes[rank] > 0 && vectors_place(blocks, rank) != blocks->at[rank])
            return false;
    return true;
}

/* Displacements are each rank's own affair, so the algorithms are given blocks that follow one another. */
bool dispatch_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                         struct dispatch_vector given, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLGATHERV);
    struct blocks blocks = {.given = &given, .type = type};
    struct layout out;
    bool in_place = send == MPI_IN_PLACE;
    if (state == NULL || receive == MPI_IN_PLACE || !vectors_given(&given) || !types_layout(type, &blocks.layout) ||
        comm_state_vectors(state) == NULL)
        return false;
    blocks.bytes = state->vectors;
    blocks.at = state->vectors + state->ranks;
    int64_t longest, total = arrange(&blocks, state->ranks, &longest);
    if (total < 0 ||
        (!in_place && (!types_layout(send_type, &out) || types_bytes(send_count, &out) != blocks.bytes[state->rank])))
        return false;
    struct call call = {.collective = COLL_ALLGATHERV,
                        .send = send,
                        .receive = receive,
                        .bytes = (total + state->ranks - 1) / state->ranks,
                        .receive_bytes = blocks.bytes,
                        .receive_at = blocks.at};
    bool direct = is_arranged(&blocks, state->ranks), packs = !direct || (!in_place && !out.contiguous);
    enum packing packing = PACKS_NOTHING;
    if (longest <= SERVE_LONGEST)
        packing = serve_packing(state, &call, total, packs ? PACKS_WHOLE : PACKS_NOTHING);
    bool possible = longest <= SERVE_LONGEST && packing == PACKS_NOTHING;
    const struct implementation *ours = serve_choose(state, &call, possible, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm own = state->ours->comm;
    if (!direct)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, total, &call.receive);
    char *place = (char *)call.receive + blocks.at[state->rank];
    if (in_place) {
        call.send = place;
        if (failed == MPI_SUCCESS && !direct)
            failed = pack_block(&blocks, receive, state->rank, place, own);
    } else if (!out.contiguous || (send == receive && send != place)) {
        void *room = NULL;
        failed =
            failed != MPI_SUCCESS ? failed : serve_room(state, SCRATCH_PACK_SEND, blocks.bytes[state->rank], &room);
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
