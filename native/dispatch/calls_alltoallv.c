/* Alltoallv and alltoallw; see calls.c.
 *
 * Nobody knows the lengths of others' blocks, nor what they have to pack. So on one node every call goes in pieces of
 * each block, whose length follows from the number of ranks: a rank packs one piece of each at a time, and calls the
 * algorithm until its own longest block is through. Ranks need not agree how often that is, as on one node an
 * alltoallv is no more than messages between two ranks, who know the length of what goes between them; where it is
 * nothing they do not wait for each other. Over several nodes ranks do more for one another: there ranks agree whether one
 * would take too much memory, and then on as many pieces: at every call in place, which all know to be one, and of an
 * algorithm that keeps what its node sends; because of gaps, of which nobody knows, at the first call and ever more rarely
 * until there is one, so that most calls need not agree. An alltoallw is an alltoallv whose blocks have types of their own. */
#include "side.h"

/* Over several nodes, whether the call goes in pieces. */
static bool is_cut(struct comm_state *state, const struct algorithm *algorithm, const struct side *out,
                   const struct side *in, bool in_place)
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
static int64_t piece_of(const struct comm_state *state, const struct algorithm *algorithm)
{
    const struct shape unit = {.bytes = 1, .element = 1, .commutative = true};
    int64_t share = SERVE_WINDOW / state->ranks,
            kept = algorithm->collects != NULL ? algorithm->collects(state->ours, &unit) : 0;
    int64_t piece = share > SERVE_PIECE ? share : SERVE_PIECE;
    if (kept * piece <= SERVE_WINDOW)
        return piece;
    return SERVE_WINDOW / kept > SERVE_KEPT ? SERVE_WINDOW / kept : SERVE_KEPT;
}

static int run(struct comm_state *state, const struct implementation *ours, struct side *out, struct side *in,
               bool in_place)
{
    int64_t longest = out->longest > in->longest ? out->longest : in->longest;
    int64_t piece = piece_of(state, ours->algorithm);
    if (state->ours->topology.nodes > 1) {
        if (is_cut(state, ours->algorithm, out, in, in_place))
            longest = serve_most(state, longest);
        else
            piece = INT64_MAX;
    }
    int failed = side_room(state, out, SCRATCH_PACK_SEND, piece);
    if (failed == MPI_SUCCESS)
        failed = side_room(state, in, SCRATCH_PACK_RECEIVE, piece);
    const struct call call = {.collective = COLL_ALLTOALLV,
                              .send = out->packs ? out->room : out->data,
                              .receive = in->packs ? in->room : in->data,
                              .send_bytes = out->blocks.bytes,
                              .send_at = out->blocks.at,
                              .receive_bytes = in->blocks.bytes,
                              .receive_at = in->blocks.at};
    if (longest <= piece && !out->packs && !in->packs)
        return serve_run(state, &call, ours);
    for (int64_t from = 0; failed == MPI_SUCCESS; from += piece) {
        side_arrange(out, from, piece);
        side_arrange(in, from, piece);
        failed = side_move(state, out, from, piece, true);
        if (failed == MPI_SUCCESS)
            failed = serve_run(state, &call, ours);
        if (failed == MPI_SUCCESS)
            failed = side_move(state, in, from, piece, false);
        if (longest - from <= piece)
            break;
    }
    return failed;
}

/* Where the types are known. */
static bool serve_sides(enum collective collective, struct comm_state *state, struct side *out, struct side *in,
                        bool in_place, MPI_Comm *comm, int *error)
{
    if (comm_state_vectors(state) == NULL)
        return false;
    out->packs = out->data == in->data || side_has_gaps(out);
    in->packs = side_has_gaps(in);
    out->blocks.bytes = state->vectors;
    out->blocks.at = out->blocks.bytes + state->ranks;
    in->blocks.bytes = out->blocks.at + state->ranks;
    in->blocks.at = in->blocks.bytes + state->ranks;
    if (!side_measure(out) || !side_measure(in) || out->blocks.bytes[state->rank] != in->blocks.bytes[state->rank])
        return false;
    const struct call call = {.collective = collective};
    const struct implementation *ours = serve_choose(state, &call, true, comm);
    return ours != NULL && serve_end(state, run(state, ours, out, in, in_place), error);
}

bool dispatch_alltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                        struct dispatch_vector given, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLTOALLV);
    bool in_place = send == MPI_IN_PLACE; /* on all ranks or none */
    if (in_place)
        send = receive, send_given = given, send_type = type;
    const int ranks = state != NULL ? state->ranks : 0;
    struct side out = {
        .count = ranks, .blocks = {.given = &send_given, .type = send_type}, .data = (char *)(uintptr_t)send};
    struct side in = {.count = ranks, .blocks = {.given = &given, .type = type}, .data = receive};
    return state != NULL && receive != MPI_IN_PLACE && vectors_given(&given) && vectors_given(&send_given) &&
           types_layout(type, &in.blocks.layout) && types_layout(send_type, &out.blocks.layout) &&
           serve_sides(COLL_ALLTOALLV, state, &out, &in, in_place, comm, error);
}

bool dispatch_alltoallw(const void *send, struct dispatch_vector send_given, void *receive,
                        struct dispatch_vector given, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_ALLTOALLW);
    bool in_place = send == MPI_IN_PLACE; /* on all ranks or none */
    if (in_place)
        send = receive, send_given = given;
    struct layout *layouts = state != NULL ? comm_state_layouts(state) : NULL;
    if (layouts == NULL)
        return false;
    struct side out = {.count = state->ranks, .blocks = {.given = &send_given}, .data = (char *)(uintptr_t)send};
    struct side in = {.count = state->ranks, .blocks = {.given = &given}, .data = receive};
    bool served = receive != MPI_IN_PLACE && vectors_given(&given) && vectors_given(&send_given) &&
                  side_look_at_types(&in, layouts) && side_look_at_types(&out, layouts + state->ranks) &&
                  serve_sides(COLL_ALLTOALLW, state, &out, &in, in_place, comm, error);
    comm_state_layouts_done(state);
    return served;
}
