/* Neighbourhoods: allgather(v) and alltoall(v, w); see calls.c.
 *
 * What goes from one rank to another both know, and nobody else; nor does anybody know what others pack. So, as in an
 * alltoallv of one node, every call goes in pieces of each block, whose length follows from the most neighbours that a rank
 * has: a rank packs one piece of each at a time, and calls the algorithm until its own longest block is through. It waits
 * for its neighbours alone, but at the first call that ours serve, at which all ranks look at who is a neighbour of whom, and
 * at those at which they look for memory of devices (device.h). */
#include "near_side.h"
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

/* The types of a side, by neighbour. False: one is no type. */
static bool look_at_types(struct side *side, struct around_side *room)
{
    if (room->layouts == NULL)
        room->layouts = reserve_get((size_t)side->count * sizeof *room->layouts);
    return side_look_at_types(side, room->layouts);
}

static bool measure(struct side *side, struct dispatch_vector *made, struct around_side *room,
                    const struct near_side *given, int count, const int *rank)
{
    *side = (struct side){.count = count,
                          .is_one = given->is_one,
                          .data = given->data,
                          .blocks = {.given = made, .type = given->type, .bytes = room->bytes, .at = room->at}};
    if (count > 0 && !given->has_types && !types_layout(given->type, &side->blocks.layout))
        return false;
    *made = near_as_vector(given, count, rank, room->counts, room->places);
    if (given->has_types && !look_at_types(side, room))
        return false;
    if (given->has_types)
        side->data = near_from_first_block(side->data, count, room->counts, room->places);
    side->packs = side_has_gaps(side);
    return side_measure(side);
}

static bool neighbor(enum collective collective, const struct near_side *send, const struct near_side *receive,
                     MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, collective);
    const struct shape shape = {.commutative = true};
    struct dispatch_vector made[2];
    struct side out, in;
    if (state == NULL || send->data == MPI_IN_PLACE || receive->data == MPI_IN_PLACE)
        return false;
    struct around *around = state->around;
    if (around == NULL || !around->is_agreed) {
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
    const struct near_side out = near_one(send, send_count, send_type);
    const struct near_side in = near_each(receive, count, type);
    return neighbor(COLL_NEIGHBOR_ALLGATHER, &out, &in, comm, error);
}

bool dispatch_neighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                  struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    const struct near_side out = near_one(send, send_count, send_type);
    const struct near_side in = near_vector(receive, blocks, type);
    return neighbor(COLL_NEIGHBOR_ALLGATHERV, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    const struct near_side out = near_each(send, send_count, send_type);
    const struct near_side in = near_each(receive, count, type);
    return neighbor(COLL_NEIGHBOR_ALLTOALL, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type,
                                 void *receive, struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm,
                                 int *error)
{
    const struct near_side out = near_vector(send, send_blocks, send_type);
    const struct near_side in = near_vector(receive, blocks, type);
    return neighbor(COLL_NEIGHBOR_ALLTOALLV, &out, &in, comm, error);
}

bool dispatch_neighbor_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                                 struct dispatch_vector blocks, MPI_Comm *comm, int *error)
{
    const struct near_side out = near_typed(send, send_blocks);
    const struct near_side in = near_typed(receive, blocks);
    return neighbor(COLL_NEIGHBOR_ALLTOALLW, &out, &in, comm, error);
}
