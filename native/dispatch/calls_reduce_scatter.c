/* Reduce_scatter and Reduce_scatter_block; see calls.c. Counts are the same on all ranks, so nothing has to be agreed on.
 * Whether the vector is in place is each rank's own affair: all go in the same pieces (../collectives/run.c). */
#include "dispatch.h"
#include "ordered.h"
#include "serve.h"
#include "vectors.h"

/* One after the other; the total, or -1 where a count is none. `blocks` NULL: `count` elements for each. */
static int64_t arrange(const struct comm_state *state, const struct blocks *blocks, MPI_Count count,
                       const struct layout *layout, int64_t *bytes, int64_t *at)
{
    int64_t total = 0;
    for (int rank = 0; rank < state->ranks; rank++) {
        bytes[rank] = types_bytes(blocks != NULL ? vectors_count(blocks, rank) : count, layout);
        at[rank] = total;
        if (bytes[rank] < 0 || __builtin_add_overflow(total, bytes[rank], &total))
            return -1;
    }
    return total;
}

static bool scatter(enum collective collective, const void *send, void *receive, const struct dispatch_vector *given,
                    MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm, int *error)
{
    struct comm_state *state = comm_state_find(*comm, collective);
    struct layout layout;
    const struct blocks blocks = {.given = given};
    if (state == NULL || receive == MPI_IN_PLACE || !types_layout(type, &layout) ||
        types_op(layout.kind, op) == OP_FORBIDDEN || comm_state_vectors(state) == NULL)
        return false;
    int64_t *bytes = state->vectors, *at = state->vectors + state->ranks;
    int64_t total = arrange(state, given != NULL ? &blocks : NULL, count, &layout, bytes, at);
    if (total < 0)
        return false;
    struct call call = {.collective = collective,
                        .bytes = given != NULL ? total : bytes[0],
                        .send = send == MPI_IN_PLACE ? receive : send,
                        .receive = receive,
                        .send_bytes = bytes,
                        .send_at = at};
    bool possible = serve_reduction(state, &call.reduction, type, op, &layout);
    const struct implementation *ours = serve_choose(state, &call, possible, comm);
    return ours != NULL && serve(state, &call, ours, error);
}

bool dispatch_reduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                             MPI_Op op, MPI_Comm *comm, int *error)
{
    if (given.counts == NULL && given.long_counts == NULL)
        return false;
    if (ordered_order() != ORDER_FREE)
        return ordered_reduce_scatter(send, receive, &given, 0, type, op, *comm, error);
    return scatter(COLL_REDUCE_SCATTER, send, receive, &given, 0, type, op, comm, error);
}

bool dispatch_reduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm *comm, int *error)
{
    if (ordered_order() != ORDER_FREE)
        return ordered_reduce_scatter(send, receive, NULL, count, type, op, *comm, error);
    return scatter(COLL_REDUCE_SCATTER_BLOCK, send, receive, NULL, count, type, op, comm, error);
}
