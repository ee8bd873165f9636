/* Wishes of calls with a length for each rank; see wishes.c. Those of an iallgatherv and of an ireduce_scatter are the same on all ranks;
 * the others' blocks are known to the two that have to do with each (parts.h). */
#include "wishes.h"

#include "reserve.h"

/* With no blocks yet. */
static struct parts *begin(const struct comm_state *state, struct wish *wish, enum collective collective, int root)
{
    const bool has_types = collective == COLL_IALLTOALLW;
    *wish =
        (struct wish){.call = {.collective = collective, .root = root}, .parts = parts_new(state->ranks, has_types)};
    return wish->parts;
}

static bool end(struct wish *wish, bool good)
{
    if (!good) {
        parts_free(wish->parts);
        wish->parts = NULL;
    }
    return good;
}

bool wish_reduce_scatter(struct comm_state *state, struct wish *wish, const void *from, void *to,
                         const struct dispatch_vector *given, MPI_Datatype type, MPI_Op op)
{
    const struct blocks blocks = {.given = given};
    int64_t count = 0, before = 0;
    *wish = (struct wish){.call = {.collective = COLL_IREDUCE_SCATTER}};
    if (given->counts == NULL && given->long_counts == NULL)
        return false;
    for (int rank = 0; rank < state->ranks; rank++) {
        const int64_t its = vectors_count(&blocks, rank);
        before = rank == state->rank ? count : before;
        if (its < 0 || __builtin_add_overflow(count, its, &count))
            return false;
    }
    if (!wish_combine(state, wish, COLL_IREDUCE_SCATTER, 0, from, to, (MPI_Count)vectors_count(&blocks, state->rank),
                      type, op))
        return false;
    struct call *call = &wish->call;
    wish->given = given;
    call->own = call->bytes;
    wish->send.count = (MPI_Count)count;
    return !__builtin_mul_overflow(count, call->reduction.element, &call->bytes) &&
           !__builtin_mul_overflow(before, call->reduction.element, &call->own_at);
}

int64_t *wish_lengths(const struct wish *wish, int ranks)
{
    if (wish->given == NULL)
        return NULL;
    const struct blocks blocks = {.given = wish->given};
    int64_t *lengths = reserve_get((size_t)ranks * sizeof *lengths);
    for (int rank = 0; rank < ranks; rank++)
        lengths[rank] = vectors_count(&blocks, rank) * wish->call.reduction.element;
    return lengths;
}

bool wish_allgatherv(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                     MPI_Datatype send_type, void *to, const struct dispatch_vector *given, MPI_Datatype type)
{
    struct parts *parts = begin(state, wish, COLL_IALLGATHERV, 0);
    struct part_side *out = &parts->out, *in = &parts->in;
    const int rank = state->rank;
    if (!parts_all(in, to, given, type))
        return end(wish, false);
    const bool good = from == MPI_IN_PLACE
                          ? parts_one(out, rank, (char *)to + in->places[rank], (MPI_Count)in->counts[rank], type)
                          : parts_one(out, rank, from, send_count, send_type);
    const int64_t total = parts_total(in);
    wish->call.bytes = total > 0 ? total / state->ranks + (total % state->ranks > 0) : total;
    wish->call.piece = parts_longest(parts);
    return end(wish, good && total >= 0 && out->bytes[rank] == in->bytes[rank]);
}

/* In place, which all ranks say or none, a long block would be sent from where another comes to. */
bool wish_alltoallv(const struct comm_state *state, struct wish *wish, const void *from,
                    const struct dispatch_vector *send_given, MPI_Datatype send_type, void *to,
                    const struct dispatch_vector *given, MPI_Datatype type)
{
    struct parts *parts = begin(state, wish, COLL_IALLTOALLV, 0);
    return end(wish, parts_all(&parts->out, from, send_given, send_type) && parts_all(&parts->in, to, given, type));
}

bool wish_alltoallw(const struct comm_state *state, struct wish *wish, const void *from,
                    const struct dispatch_vector *send_given, void *to, const struct dispatch_vector *given)
{
    struct parts *parts = begin(state, wish, COLL_IALLTOALLW, 0);
    return end(wish, parts_all(&parts->out, from, send_given, MPI_DATATYPE_NULL) &&
                         parts_all(&parts->in, to, given, MPI_DATATYPE_NULL));
}

/* The root's blocks of all, and one of each rank, which the root has not in place. */
static bool rooted(const struct comm_state *state, struct wish *wish, struct part_side *all, const void *many,
                   const struct dispatch_vector *given, MPI_Datatype type, struct part_side *own, const void *one,
                   MPI_Count count, MPI_Datatype own_type)
{
    const int root = wish->call.root;
    const bool in_place = one == MPI_IN_PLACE, is_root = state->rank == root;
    bool good = root >= 0 && root < state->ranks && (is_root || !in_place);
    if (good && is_root)
        good = parts_all(all, many, given, type);
    if (good && in_place)
        all->counts[root] = all->bytes[root] = 0;
    else if (good)
        good = parts_one(own, root, one, count, own_type) && (!is_root || all->bytes[root] == own->bytes[root]);
    return end(wish, good);
}

bool wish_gatherv(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                  MPI_Datatype send_type, void *to, const struct dispatch_vector *given, MPI_Datatype type, int root)
{
    struct parts *parts = begin(state, wish, COLL_IGATHERV, root);
    return rooted(state, wish, &parts->in, to, given, type, &parts->out, from, send_count, send_type);
}

bool wish_scatterv(const struct comm_state *state, struct wish *wish, const void *from,
                   const struct dispatch_vector *given, MPI_Datatype send_type, void *to, MPI_Count count,
                   MPI_Datatype type, int root)
{
    struct parts *parts = begin(state, wish, COLL_ISCATTERV, root);
    return rooted(state, wish, &parts->out, from, given, send_type, &parts->in, to, count, type);
}

/* One side, by neighbour. `room`: as a vector. */
static bool near_blocks(struct part_side *side, const struct near_side *given, const int *rank,
                        struct around_side *room)
{
    const struct dispatch_vector made = near_as_vector(given, side->count, rank, room->counts, room->places);
    char *data = given->data;
    if (given->data == MPI_IN_PLACE)
        return false;
    if (given->has_types)
        data = near_from_first_block(data, side->count, room->counts, room->places);
    side->is_one = given->is_one;
    return parts_all(side, data, &made, given->type);
}

bool wish_neighbor(struct around *around, struct wish *wish, enum collective collective, const struct near_side *send,
                   const struct near_side *receive)
{
    const struct neighbours *near = &around->near;
    struct parts *parts = parts_near(near, send->has_types);
    *wish =
        (struct wish){.call = {.collective = collective, .around = &parts->near, .most = around->most}, .parts = parts};
    return end(wish, near_blocks(&parts->out, send, near->target, &around->out) &&
                         near_blocks(&parts->in, receive, near->source, &around->in));
}
