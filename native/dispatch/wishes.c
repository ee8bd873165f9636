/* What is chosen depends on values that are equal on all ranks; a rank whose data has gaps, or is a device's, packs it when the call
 * begins and unpacks it when it is over. */
#include "wishes.h"

#include "device.h"
#include "serve.h"

/* Data of the program: *bytes of `count` elements. False: MPI forbids it. */
static bool look_at(const void *data, MPI_Count count, MPI_Datatype type, struct packed *side, int64_t *bytes)
{
    *side = (struct packed){.is_there = true, .data = (void *)(uintptr_t)data, .count = count, .type = type};
    if (data == MPI_IN_PLACE || !types_layout(type, &side->layout))
        return false;
    *bytes = types_bytes(count, &side->layout);
    side->layout.contiguous = side->layout.contiguous && !device_is(data, data);
    return *bytes >= 0;
}

/* `times` as many elements. */
static struct packed all_of(struct packed side, int times)
{
    side.count *= times;
    return side;
}

/* Block number `index`. */
static struct packed block_of(struct packed side, int index)
{
    side.data = (char *)side.data + index * side.count * side.layout.extent;
    return side;
}

static void send(struct wish *wish, struct packed side)
{
    wish->call.send = side.data;
    if (!side.layout.contiguous)
        wish->send = side;
}

static void receive(struct wish *wish, struct packed side)
{
    wish->call.receive = side.data;
    if (!side.layout.contiguous)
        wish->receive = side;
}

/* Whether a root is one. */
static bool is_root_sound(const struct comm_state *state, int root)
{
    return root >= 0 && root < state->ranks;
}

bool wish_bcast(const struct comm_state *state, struct wish *wish, void *buffer, MPI_Count count, MPI_Datatype type,
                int root)
{
    struct packed side;
    *wish = (struct wish){.call = {.collective = COLL_IBCAST, .root = root}};
    if (!is_root_sound(state, root) || !look_at(buffer, count, type, &side, &wish->call.bytes))
        return false;
    if (state->rank == root)
        send(wish, side);
    else
        receive(wish, side);
    return true;
}

bool wish_combine(struct comm_state *state, struct wish *wish, enum collective collective, int root, const void *from,
                  void *to, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    struct packed in, out;
    const bool is_reduce = collective == COLL_IREDUCE, is_root = state->rank == root,
               gets = (!is_reduce || is_root) && (collective != COLL_IEXSCAN || state->rank > 0);
    const int blocks = collective == COLL_IREDUCE_SCATTER_BLOCK ? state->ranks : 1;
    *wish = (struct wish){.call = {.collective = collective, .root = root, .count = count}};
    if (is_reduce && (!is_root_sound(state, root) || (from == MPI_IN_PLACE && !is_root)))
        return false;
    if (!look_at(from == MPI_IN_PLACE ? to : from, count, type, &in, &wish->call.bytes) ||
        (gets && !look_at(to, count, type, &out, &wish->call.bytes)) || types_op(in.layout.kind, op) != OP_PREDEFINED ||
        in.layout.size != in.layout.extent || !serve_reduction(state, &wish->call.reduction, type, op, &in.layout))
        return false;
    send(wish, all_of(in, blocks));
    if (gets)
        receive(wish, out);
    return true;
}

bool wish_exchange(const struct comm_state *state, struct wish *wish, enum collective collective, const void *from,
                   MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type)
{
    const int blocks = collective == COLL_IALLTOALL ? state->ranks : 1; /* that a rank sends */
    struct packed in, out;
    int64_t sent = 0;
    *wish = (struct wish){.call = {.collective = collective}};
    if (!look_at(to, count, type, &out, &wish->call.bytes))
        return false;
    if (from == MPI_IN_PLACE)
        in = blocks == 1 ? block_of(out, state->rank) : out;
    else if (!look_at(from, send_count, send_type, &in, &sent) || sent != wish->call.bytes)
        return false;
    send(wish, all_of(in, blocks));
    receive(wish, all_of(out, state->ranks));
    return true;
}

bool wish_gather(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                 MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type, int root)
{
    struct packed own, all;
    int64_t sent = 0;
    const bool in_place = from == MPI_IN_PLACE, is_root = state->rank == root;
    *wish = (struct wish){.call = {.collective = COLL_IGATHER, .root = root}};
    if (!is_root_sound(state, root) || (in_place && !is_root) ||
        (is_root && !look_at(to, count, type, &all, &wish->call.bytes)) ||
        (!in_place && !look_at(from, send_count, send_type, &own, &sent)) ||
        (is_root && !in_place && sent != wish->call.bytes))
        return false;
    wish->call.bytes = is_root ? wish->call.bytes : sent;
    if (in_place)
        wish->call.send = block_of(all, root).data;
    else
        send(wish, own);
    if (is_root)
        receive(wish, all_of(all, state->ranks));
    wish->keeps = in_place && !all.layout.contiguous;
    return true;
}

bool wish_scatter(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                  MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type, int root)
{
    struct packed own, all;
    int64_t got = 0;
    const bool in_place = to == MPI_IN_PLACE, is_root = state->rank == root;
    *wish = (struct wish){.call = {.collective = COLL_ISCATTER, .root = root}};
    if (!is_root_sound(state, root) || (in_place && !is_root) ||
        (is_root && !look_at(from, send_count, send_type, &all, &wish->call.bytes)) ||
        (!in_place && !look_at(to, count, type, &own, &got)) || (is_root && !in_place && got != wish->call.bytes))
        return false;
    wish->call.bytes = is_root ? wish->call.bytes : got;
    if (is_root)
        send(wish, all_of(all, state->ranks));
    if (!in_place)
        receive(wish, own);
    return true;
}
