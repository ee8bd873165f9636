/* Gather and scatter; see calls.c. What the root gives for its own block counts for nothing where it is in place; the
 * others' arguments for all blocks count nowhere. */
#include "dispatch.h"
#include "pack.h"
#include "serve.h"

/* One side of a call: the root's, with all blocks, or a rank's own. */
struct side {
    char *data;
    MPI_Count count; /* elements of a block */
    MPI_Datatype type;
    struct layout layout;
};

static bool is_block(struct side *side, int64_t *bytes)
{
    if (side->data == MPI_IN_PLACE || !types_layout(side->type, &side->layout))
        return false;
    *bytes = types_bytes(side->count, &side->layout);
    return true;
}

/* Whether a rank's arguments are sound, and the bytes of a block, which are the same on all. */
static bool is_possible(const struct comm_state *state, struct side *all, struct side *own, bool is_root, bool in_place,
                        int64_t *bytes)
{
    int64_t its;
    if (state == NULL || (in_place && !is_root) || (is_root && !is_block(all, bytes)))
        return false;
    if (in_place)
        return true;
    if (!is_block(own, &its) || (is_root && its != *bytes))
        return false;
    *bytes = its;
    return true;
}

static const struct implementation *choose(struct comm_state *state, const struct call *call, bool packs,
                                           MPI_Comm *comm)
{
    int64_t all = call->bytes > SERVE_LONGEST ? 0 : state->ranks * call->bytes;
    enum packing packing = serve_packing(state, call, all, packs ? PACKS_WHOLE : PACKS_NOTHING);
    return serve_choose(state, call, packing == PACKS_NOTHING, comm);
}

static bool is_direct(const struct side *side)
{
    return side->layout.contiguous;
}

/* Whether a rank's own block lies apart from the others' memory. On the root some programs give the same buffer twice, which
 * MPI forbids; its block is moved away then. */
static bool is_apart(const struct side *own, const struct side *all, bool is_root, int root)
{
    return is_direct(own) && !(is_root && own->data == all->data && root > 0);
}

bool dispatch_gather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                     MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_GATHER);
    struct side own = {.data = (char *)(uintptr_t)send, .count = send_count, .type = send_type};
    struct side all = {.data = receive, .count = count, .type = type};
    bool in_place = send == MPI_IN_PLACE, is_root = state != NULL && state->rank == root;
    struct call call = {.collective = COLL_GATHER, .root = root, .send = send};
    if (state == NULL || root < 0 || root >= state->ranks ||
        !is_possible(state, &all, &own, is_root, in_place, &call.bytes))
        return false;
    call.receive = is_root ? receive : NULL;
    bool apart = in_place || is_apart(&own, &all, is_root, root), packs = (is_root && !is_direct(&all)) || !apart;
    const struct implementation *ours = choose(state, &call, packs, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm private = state->ours->comm;
    if (is_root && !is_direct(&all))
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, state->ranks * call.bytes, &call.receive);
    if (in_place) {
        char *place = (char *)call.receive + root * call.bytes;
        call.send = place;
        if (failed == MPI_SUCCESS && !is_direct(&all))
            failed = pack(all.data + root * count * all.layout.extent, count, type, &all.layout, place, private);
    } else if (!apart) {
        void *room = NULL;
        failed = failed != MPI_SUCCESS ? failed : serve_room(state, SCRATCH_PACK_SEND, call.bytes, &room);
        if (failed == MPI_SUCCESS)
            failed = pack(send, send_count, send_type, &own.layout, room, private);
        call.send = room;
    }
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && is_root && !is_direct(&all))
        failed = unpack(call.receive, receive, state->ranks * count, type, &all.layout, private);
    return serve_end(state, failed, error);
}

bool dispatch_scatter(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                      MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, COLL_SCATTER);
    struct side all = {.data = (char *)(uintptr_t)send, .count = send_count, .type = send_type};
    struct side own = {.data = receive, .count = count, .type = type};
    bool in_place = receive == MPI_IN_PLACE, is_root = state != NULL && state->rank == root;
    struct call call = {.collective = COLL_SCATTER, .root = root, .receive = receive};
    if (state == NULL || root < 0 || root >= state->ranks ||
        !is_possible(state, &all, &own, is_root, in_place, &call.bytes))
        return false;
    call.send = is_root ? send : NULL;
    bool apart = in_place || is_apart(&own, &all, is_root, root), packs = (is_root && !is_direct(&all)) || !apart;
    const struct implementation *ours = choose(state, &call, packs, comm);
    if (ours == NULL)
        return false;
    int failed = MPI_SUCCESS;
    MPI_Comm private = state->ours->comm;
    if (is_root && !is_direct(&all)) {
        void *room = NULL;
        failed = serve_room(state, SCRATCH_PACK_SEND, state->ranks * call.bytes, &room);
        if (failed == MPI_SUCCESS)
            failed = pack(send, state->ranks * send_count, send_type, &all.layout, room, private);
        call.send = room;
    }
    if (in_place)
        call.receive = (char *)(uintptr_t)call.send + root * call.bytes;
    else if (!apart && failed == MPI_SUCCESS)
        failed = serve_room(state, SCRATCH_PACK_RECEIVE, call.bytes, &call.receive);
    if (failed == MPI_SUCCESS)
        failed = serve_run(state, &call, ours);
    if (failed == MPI_SUCCESS && !apart)
        failed = unpack(call.receive, receive, count, type, &own.layout, private);
    return serve_end(state, failed, error);
}
