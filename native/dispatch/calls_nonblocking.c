/* Nonblocking calls; see calls.c. What is chosen depends on values that are equal on all ranks; a rank whose data has gaps, or is
 * a device's, packs it when the call begins and unpacks it when it is over. */
#include "device.h"
#include "dispatch.h"
#include "nonblocking.h"
#include "serve.h"
#include "comm_state.h"

/* Data of the program: *bytes of `count` elements. False: MPI forbids it. */
static bool look_at(const void *data, MPI_Count count, MPI_Datatype type, struct packed *side, int64_t *bytes)
{
    *side = (struct packed){.data = (void *)(uintptr_t)data, .count = count, .type = type};
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

/* The MPI library's: false. Its message size is told by what is significant on this rank. */
static bool left(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type)
{
    nonblocking_left(comm, collective, count, type);
    return false;
}

/* The same with a root, which between groups may be MPI_ROOT or MPI_PROC_NULL: nothing else need be significant then. */
static bool left_to_root(MPI_Comm comm, enum collective collective, int root, MPI_Count count, MPI_Datatype type)
{
    return root >= 0 && left(comm, collective, count, type);
}

/* Whether a root is one. */
static bool is_root_sound(const struct comm_state *state, int root)
{
    return state != NULL && root >= 0 && root < state->ranks;
}

bool dispatch_ibarrier(MPI_Comm comm, MPI_Request *request, int *error)
{
    const struct wish wish = {.call = {.collective = COLL_IBARRIER}};
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return (state != NULL && nonblocking_begin(state, &wish, request, error)) || left(comm, COLL_IBARRIER, 0, MPI_BYTE);
}

bool dispatch_ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request,
                     int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    struct wish wish = {.call = {.collective = COLL_IBCAST, .root = root}};
    struct packed side;
    if (!is_root_sound(state, root) || !look_at(buffer, count, type, &side, &wish.call.bytes))
        return left_to_root(comm, COLL_IBCAST, root, count, type);
    if (state->rank == root)
        send(&wish, side);
    else
        receive(&wish, side);
    return nonblocking_begin(state, &wish, request, error) || left_to_root(comm, COLL_IBCAST, root, count, type);
}

/* All that combine; a rank sends `blocks` times what it receives. */
static bool combine(MPI_Comm comm, struct comm_state *state, enum collective collective, int root, const void *from, int blocks,
                    void *to, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Request *request, int *error)
{
    struct wish wish = {.call = {.collective = collective, .root = root, .count = count}};
    struct packed in, out;
    const bool gets = state != NULL && (collective != COLL_IREDUCE || state->rank == root) &&
                      (collective != COLL_IEXSCAN || state->rank > 0);
    if (state == NULL || !look_at(from == MPI_IN_PLACE ? to : from, count, type, &in, &wish.call.bytes) ||
        (gets && !look_at(to, count, type, &out, &wish.call.bytes)) || types_op(in.layout.kind, op) != OP_PREDEFINED ||
        in.layout.size != in.layout.extent || !serve_reduction(state, &wish.call.reduction, type, op, &in.layout))
        return left_to_root(comm, collective, root, count, type);
    send(&wish, all_of(in, blocks));
    if (gets)
        receive(&wish, out);
    return nonblocking_begin(state, &wish, request, error) || left_to_root(comm, collective, root, count, type);
}

bool dispatch_ireduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    if (!is_root_sound(state, root) || (send == MPI_IN_PLACE && state->rank != root))
        state = NULL;
    return combine(comm, state, COLL_IREDUCE, root, send, 1, receive, count, type, op, request, error);
}

bool dispatch_iallreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return combine(comm, state, COLL_IALLREDUCE, 0, send, 1, receive, count, type, op, request, error);
}

bool dispatch_iscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return combine(comm, state, COLL_ISCAN, 0, send, 1, receive, count, type, op, request, error);
}

bool dispatch_iexscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return combine(comm, state, COLL_IEXSCAN, 0, send, 1, receive, count, type, op, request, error);
}

bool dispatch_ireduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return combine(comm, state, COLL_IREDUCE_SCATTER_BLOCK, 0, send, state != NULL ? state->ranks : 0, receive, count, type,
                   op, request, error);
}

/* iallgather and ialltoall, where a rank sends `blocks` blocks. */
static bool exchange(MPI_Comm comm, struct comm_state *state, enum collective collective, const void *from, MPI_Count send_count,
                     MPI_Datatype send_type, int blocks, void *to, MPI_Count count, MPI_Datatype type,
                     MPI_Request *request, int *error)
{
    struct wish wish = {.call = {.collective = collective}};
    struct packed in, out;
    int64_t sent = 0;
    if (state == NULL || !look_at(to, count, type, &out, &wish.call.bytes))
        return left(comm, collective, count, type);
    if (from == MPI_IN_PLACE)
        in = blocks == 1 ? block_of(out, state->rank) : out;
    else if (!look_at(from, send_count, send_type, &in, &sent) || sent != wish.call.bytes)
        return left(comm, collective, count, type);
    send(&wish, all_of(in, blocks));
    receive(&wish, all_of(out, state->ranks));
    return nonblocking_begin(state, &wish, request, error) || left(comm, collective, count, type);
}

bool dispatch_iallgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                         MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return exchange(comm, state, COLL_IALLGATHER, send, send_count, send_type, 1, receive, count, type, request, error);
}

bool dispatch_ialltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    return exchange(comm, state, COLL_IALLTOALL, send, send_count, send_type, state != NULL ? state->ranks : 0, receive,
                    count, type, request, error);
}

bool dispatch_igather(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count,
                      MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    struct wish wish = {.call = {.collective = COLL_IGATHER, .root = root}};
    struct packed own, all;
    int64_t sent = 0;
    const bool in_place = from == MPI_IN_PLACE;
    const MPI_Count counted = in_place ? count : send_count;
    const MPI_Datatype typed = in_place ? type : send_type;
    if (!is_root_sound(state, root))
        return left_to_root(comm, COLL_IGATHER, root, counted, typed);
    const bool is_root = state->rank == root;
    if ((in_place && !is_root) || (is_root && !look_at(to, count, type, &all, &wish.call.bytes)) ||
        (!in_place && !look_at(from, send_count, send_type, &own, &sent)) ||
        (is_root && !in_place && sent != wish.call.bytes))
        return left_to_root(comm, COLL_IGATHER, root, counted, typed);
    wish.call.bytes = is_root ? wish.call.bytes : sent;
    if (in_place)
        wish.call.send = block_of(all, root).data;
    else
        send(&wish, own);
    if (is_root)
        receive(&wish, all_of(all, state->ranks));
    wish.keeps = in_place && !all.layout.contiguous;
    return nonblocking_begin(state, &wish, request, error) || left_to_root(comm, COLL_IGATHER, root, counted, typed);
}

bool dispatch_iscatter(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count,
                       MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm);
    struct wish wish = {.call = {.collective = COLL_ISCATTER, .root = root}};
    struct packed own, all;
    int64_t got = 0;
    const bool in_place = to == MPI_IN_PLACE;
    const MPI_Count counted = in_place ? send_count : count;
    const MPI_Datatype typed = in_place ? send_type : type;
    if (!is_root_sound(state, root))
        return left_to_root(comm, COLL_ISCATTER, root, counted, typed);
    const bool is_root = state->rank == root;
    if ((in_place && !is_root) || (is_root && !look_at(from, send_count, send_type, &all, &wish.call.bytes)) ||
        (!in_place && !look_at(to, count, type, &own, &got)) || (is_root && !in_place && got != wish.call.bytes))
        return left_to_root(comm, COLL_ISCATTER, root, counted, typed);
    wish.call.bytes = is_root ? wish.call.bytes : got;
    if (is_root)
        send(&wish, all_of(all, state->ranks));
    if (!in_place)
        receive(&wish, own);
    return nonblocking_begin(state, &wish, request, error) || left_to_root(comm, COLL_ISCATTER, root, counted, typed);
}
