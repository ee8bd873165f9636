/* Neighbourhoods: allgather(v) and alltoall(v, w); see calls.c.
 *
 * What goes from one rank to another both know, and nobody else; nor does anybody know what others pack. So, as in an
 * alltoallv of one node, every call goes in pieces of each block, whose length follows from the most neighbours that a rank
 * has: a rank packs one piece of each at a time, and calls the algorithm until its own longest block is through. It waits
 * for its neighbours alone, but at the first call that ours serve, at which all ranks look at who is a neighbour of whom, and
 * at those at which they look for memory of devices (device.h). */
#include "reserve.h"
#include "side.h"

static int run(struct comm_state *state, const struct implementation *ours, struct side *out, struct side *in)
{
    static char nothing; /* the place of no blocks */
    const struct around *around = state->around;
    const int64_t longest = out->longest > in->longest ? out->longest : in->longest,
                  share = SERVE_WINDOW / around->most;
    const int64_t piece = share > SERVE_PIECE ? share : SERVE_PIECE;
    int failed = side_room(state, out, SCRATCH_PACK_SEND, piece);
    if (failed == MPI_SUCCESS)
        failed = side_room(state, in, SCRATCH_PACK_RECEIVE, piece);
    const char *from_where = out->packs ? out->room : out->data;
    char *to_where = in->packs ? in->room : in->data;
    const struct call call = {.collective = ours->collective,
                              .around = &around->near,
                              .send = from_where != NULL ? from_where : &nothing,
                              .receive = to_where != NULL ? to_where : &nothing,
                              .send_bytes = out->blocks.bytes,
                              .send_at = out->blocks.at,
                              .receive_bytes = in->blocks.bytes,
                              .receive_at = in->blocks.at};
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

/* What the program gave for one side: a vector, or (no counts) as much for everyone, or one block for all; elements of one type,
 * or of types that are in the vector. */
struct given {
    void *data;
    struct dispatch_vector vector;
    MPI_Count each;
    bool is_one, has_types;
    MPI_Datatype type;
};

static bool has_vector(const struct given *given)
{
    return vectors_given(&given->vector);
}

/* The types of a side, by neighbour. False: one is no type. */
static bool look_at_types(struct side *side, struct around_side *room)
{
    if (room->layouts == NULL)
        room->layouts = reserve_get((size_t)side->count * sizeof *room->layouts);
    return side_look_at_types(side, room->layouts);
}

/* Displacements in bytes may be addresses, the program's memory MPI_BOTTOM: from the first block on that has a length. */
static void from_first_block(struct side *side, MPI_Aint *places)
{
    int first = 0;
    while (first < side->count && vectors_count(&side->blocks, first) == 0)
        first++;
    if (first == side->count)
        return;
    const MPI_Aint base = places[first];
    side->data = (char *)((uintptr_t)side->data + (uintptr_t)base);
    for (int i = first; i < side->count; i++)
        places[i] = (MPI_Aint)((uintptr_t)places[i] - (uintptr_t)base);
}

/* As a vector in which who is not there has nothing. */
static bool measure(struct side *side, struct dispatch_vector *made, struct around_side *room,
                    const struct given *given, int count, const int *rank)
{
    *side = (struct side){.count = count,
                          .is_one = given->is_one,
                          .data = given->data,
                          .blocks = {.given = made, .type = given->type, .bytes = room->bytes, .at = room->at}};
    struct blocks program = {.given = &given->vector, .type = given->type};
    if (count > 0 && !given->has_types && !types_layout(given->type, &side->blocks.layout))
        return false;
    for (int i = 0; i < count; i++) {
        const bool wide = given->vector.at == NULL;
        room->counts[i] = rank[i] < 0 ? 0 : has_vector(given) ? vectors_count(&program, i) : (int64_t)given->each;
        room->places[i] = given->is_one ? 0 : (MPI_Aint)(i * given->each);
        if (has_vector(given))
            room->places[i] = rank[i] < 0 ? 0 : wide ? given->vector.long_at[i] : given->vector.at[i];
    }
    *made = given->vector;
    made->counts = made->at = NULL, made->long_counts = room->counts, made->long_at = room->places;
    if (given->has_types && !look_at_types(side, room))
        return false;
    if (given->has_types)
        from_first_block(side, room->places);
    side->packs = side_has_gaps(side);
    return side_measure(side);
}

static bool neighbor(enum collective collective, const struct given *send, const struct given *receive, MPI_Comm *comm,
                     int *error)
{
    struct comm_state *state = comm_state_find(*comm);
    const struct shape shape = {.commutative = true};
    struct dispatch_vector made[2];
    struct side out, in;
    if (state == NULL || send->data == MPI_IN_PLACE || receive->data == MPI_IN_PLACE)
        return false;
    struct around *around = state->around;
    if (around == NULL) {
        const struct implementation *would = serve_would(state, collective, &shape);
        around = would != NULL && would->kind == BY_OURS ? around_of(state) : NULL;
    }
    const struct neighbours *near = around != NULL ? &around->near : NULL;
    /* Who has no neighbours has a part in agreements all the same; what MPI forbids is the MPI library's. */
    if (around != NULL && around->possible &&
        (!measure(&out, &made[0], &around->out, send, near->targets, near->target) ||
         !measure(&in, &made[1], &around->in, receive, near->sources, near->source)))
        return false;
    const struct call call = {.collective = collective};
    const struct implementation *ours = serve_choose(state, &call, around != NULL && around->possible, comm);
    return ours != NULL && serve_end(state, run(state, ours, &out, &in), error);
}

bool dispatch_neighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                 MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    const struct given out = {.data = (void *)(uintptr_t)send, .each = send_count, .is_one = true, .type = send_type};
    const struct given in = {.data = receive, .each = count, .type = type};
    return neighbor(COLL_NEIGHBOR_ALLGATHER, &out, &in, comm, error);
}

bool dispatch_neighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                  struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    const struct given out = {.data = (void *)(uintptr_t)send, .each = send_count, .is_one = true, .type = send_type};
    const struct given in = {.data = receive, .vector = blocks, .type = type};
    return neighbor(COLL_NEIGHBOR_ALLGATHERV, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    const struct given out = {.data = (void *)(uintptr_t)send, .each = send_count, .type = send_type};
    const struct given in = {.data = receive, .each = count, .type = type};
    return neighbor(COLL_NEIGHBOR_ALLTOALL, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type,
                                 void *receive, struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm,
                                 int *error)
{
    const struct given out = {.data = (void *)(uintptr_t)send, .vector = send_blocks, .type = send_type};
    const struct given in = {.data = receive, .vector = blocks, .type = type};
    return neighbor(COLL_NEIGHBOR_ALLTOALLV, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                                 struct dispatch_vector blocks, MPI_Comm *comm, int *error)
{
    const struct given out = {.data = (void *)(uintptr_t)send, .vector = send_blocks, .has_types = true};
    const struct given in = {.data = receive, .vector = blocks, .has_types = true};
    return neighbor(COLL_NEIGHBOR_ALLTOALLW, &out, &in, comm, error);
}
