#include "ordered.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm_state.h"
#include "device.h"
#include "failure.h"
#include "job.h"
#include "pack.h"
#include "peers.h"
#include "reduction.h"
#include "vectors.h"

/* Bytes that all ranks' elements of a piece may take together. */
static const int64_t piece_most = INT64_C(16) << 20;

enum reduction_order ordered_order(void)
{
    return job.reproducible == REPRODUCIBLE_RANKS       ? ORDER_EXACT
           : job.reproducible == REPRODUCIBLE_PLACEMENT ? ORDER_RANKS
                                                        : ORDER_FREE;
}

bool ordered_keeps(enum collective collective)
{
    return ordered_order() != ORDER_FREE && collective_reduces(collective);
}

/* One call, by pieces of its vector. `root` < 0: everybody gets the result. Elements go as bytes: with types that have gaps
 * some gathers fail (MPICH 4.0.2's binomial tree says that a message is truncated). */
struct ordered {
    const char *send;
    char *receive;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    int root, rank, ranks;
    struct layout layout;
    MPI_Aint low, span; /* of an element: where it begins, how far it reaches */
    struct reduction reduction;
    bool is_plain;                        /* ours can combine it: elements are the bytes of their extent */
    bool gets;                            /* this rank gets the result */
    char *own, *all;                      /* a piece: this rank's, packed, and all ranks', one after the other */
    char *left, *right;                   /* where the operation needs elements laid out by the type */
    const void **of;                      /* all ranks' */
    const struct dispatch_vector *blocks; /* reduce_scatter; NULL: all have `block` elements */
    int64_t block;
    bool scatters;
    int *vectors; /* four of `ranks`, for an alltoallv */
};

static int gather(const struct ordered *call, int64_t at, int count)
{
    const char *from = call->send + at * call->layout.extent;
    const int bytes = count * (int)call->layout.size;
    if (!call->layout.contiguous) {
        int error = pack(from, count, call->type, &call->layout, call->own, call->comm);
        if (error != MPI_SUCCESS)
            return error;
        from = call->own;
    }
    return call->root < 0 ? PMPI_Allgather(from, bytes, MPI_BYTE, call->all, bytes, MPI_BYTE, call->comm)
                          : PMPI_Gather(from, bytes, MPI_BYTE, call->all, bytes, MPI_BYTE, call->root, call->comm);
}

static int combine(struct ordered *call, int64_t at, int count)
{
    const int64_t bytes = count * call->layout.size;
    char *to = call->receive + at * call->layout.extent, *left = call->left, *right = call->right;
    if (call->is_plain) {
        for (int rank = 0; rank < call->ranks; rank++)
            call->of[rank] = call->all + rank * bytes;
        reduction_fold(&call->reduction, call->of, call->ranks, call->all, count);
        memcpy(to, call->all, (size_t)bytes);
        return MPI_SUCCESS;
    }
    int error = unpack(call->all, left - call->low, count, call->type, &call->layout, call->comm);
    for (int rank = 1; rank < call->ranks && error == MPI_SUCCESS; rank++) { /* into the right operand, as MPI does */
        char *former = left;
        error = unpack(call->all + rank * bytes, right - call->low, count, call->type, &call->layout, call->comm);
        if (error == MPI_SUCCESS)
            error = PMPI_Reduce_local(left - call->low, right - call->low, count, call->type, call->op);
        left = right;
        right = former;
    }
    if (error == MPI_SUCCESS)
        error = pack(left - call->low, count, call->type, &call->layout, call->all, call->comm);
    return error != MPI_SUCCESS ? error : unpack(call->all, to, count, call->type, &call->layout, call->comm);
}

static int64_t block_of(const struct ordered *call, int rank)
{
    return call->blocks != NULL ? vectors_count(&(struct blocks){.given = call->blocks}, rank) : call->block;
}

/* Of every rank's block the elements from `done` on, at most `most`, to that rank, which combines them. In place the result
 * replaces only what has been sent: it lies before element `done` + its own number of every block. */
static int scatter(struct ordered *call, int64_t done, int most)
{
    int *out = call->vectors, *out_at = out + call->ranks, *in = out_at + call->ranks, *in_at = in + call->ranks;
    const int64_t size = call->layout.size, left = block_of(call, call->rank) - done;
    const int mine = left < 0 ? 0 : left < most ? (int)left : most;
    int64_t start = 0;
    for (int rank = 0; rank < call->ranks; start += block_of(call, rank++)) {
        int64_t theirs = block_of(call, rank) - done;
        const int now = theirs < 0 ? 0 : theirs < most ? (int)theirs : most;
        char *to = call->own + rank * most * size;
        out[rank] = (int)(now * size);
        out_at[rank] = (int)(rank * most * size);
        in[rank] = (int)(mine * size);
        in_at[rank] = (int)(rank * mine * size);
        if (now == 0)
            continue;
        int error =
            pack(call->send + (start + done) * call->layout.extent, now, call->type, &call->layout, to, call->comm);
        if (error != MPI_SUCCESS)
            return error;
    }
    int error = PMPI_Alltoallv(call->own, out, out_at, MPI_BYTE, call->all, in, in_at, MPI_BYTE, call->comm);
    return error != MPI_SUCCESS || mine == 0 ? error : combine(call, done, mine);
}

/* Elements at a time: the same number on all ranks. */
static int piece_of(const struct ordered *call, int64_t count)
{
    int64_t each = piece_most / call->ranks / call->layout.size;
    each = each < 1 ? 1 : each;
    return (int)(each < count ? each : count);
}

static bool take_room(struct ordered *call, int most)
{
    const size_t bytes = (size_t)(most * call->layout.size),
                 laid_out = (size_t)((most - 1) * call->layout.extent + call->span);
    bool good = true;
    if (!call->layout.contiguous || call->scatters)
        good = (call->own = malloc(bytes * (call->scatters ? (size_t)call->ranks : 1))) != NULL;
    if (call->scatters)
        good = (call->vectors = malloc(4 * (size_t)call->ranks * sizeof *call->vectors)) != NULL && good;
    if (call->gets)
        good = (call->all = malloc((size_t)call->ranks * bytes)) != NULL && good;
    if (call->gets && call->is_plain)
        good = (call->of = malloc((size_t)call->ranks * sizeof *call->of)) != NULL && good;
    if (call->gets && !call->is_plain)
        good = (call->left = malloc(laid_out)) != NULL && (call->right = malloc(laid_out)) != NULL && good;
    return good;
}

/* The other ranks would wait for this one in a gather of the MPI library, in which they hear nothing. */
static void end_program(const struct ordered *call)
{
    fprintf(stderr,
            "unisono: rank %d has no memory left for a reproducible %s, and the other ranks would wait for it: the "
            "program ends here\n",
            call->rank,
            call->scatters   ? "reduce_scatter"
            : call->root < 0 ? "allreduce"
                             : "reduce");
    failure_end_job(EXIT_FAILURE);
    abort();
}

static int run(struct ordered *call, int64_t count)
{
    const int most = piece_of(call, count);
    int error = MPI_SUCCESS;
    if (!take_room(call, most))
        end_program(call);
    for (int64_t at = 0; at < count && error == MPI_SUCCESS; at += most) {
        int now = count - at < most ? (int)(count - at) : most;
        if (call->scatters) {
            error = scatter(call, at, now);
            continue;
        }
        error = gather(call, at, now);
        if (error == MPI_SUCCESS && call->gets)
            error = combine(call, at, now);
    }
    free(call->vectors);
    free(call->own);
    free(call->all);
    free(call->of);
    free(call->left);
    free(call->right);
    return error;
}

/* Whether all ranks combine here: processes that joined later may be without the library, and call the MPI library's reduction. */
static bool is_ours(MPI_Comm comm)
{
    struct comm_state *state = comm_state_any(comm);
    if (state == NULL)
        return peers_were_there(comm, true);
    if (state->peers == NULL && state->joined == JOINED_UNTRIED)
        state->joined = peers_were_there(comm, true) ? JOINED_NOBODY : JOINED_SOME;
    return state->peers != NULL || state->joined == JOINED_NOBODY;
}

/* False: the MPI library says what is wrong with it, or there is nothing to combine. */
static bool understand(struct ordered *call, MPI_Count count)
{
    int inter = 1;
    MPI_Aint extent;
    if (count <= 0 || call->comm == MPI_COMM_NULL || call->type == MPI_DATATYPE_NULL || call->op == MPI_OP_NULL ||
        call->op == MPI_REPLACE || call->op == MPI_NO_OP)
        return false;
    if (PMPI_Comm_test_inter(call->comm, &inter) != MPI_SUCCESS || inter || !types_layout(call->type, &call->layout) ||
        call->layout.size <= 0 || call->layout.size > INT_MAX || call->layout.extent <= 0 ||
        types_op(call->layout.kind, call->op) == OP_FORBIDDEN)
        return false;
    PMPI_Comm_size(call->comm, &call->ranks);
    PMPI_Comm_rank(call->comm, &call->rank);
    if (call->ranks == 1 || call->root >= call->ranks || call->layout.size > INT_MAX / call->ranks ||
        PMPI_Type_get_true_extent(call->type, &call->low, &extent) != MPI_SUCCESS || !is_ours(call->comm))
        return false;
    call->span = extent;
    call->gets = call->root < 0 || call->rank == call->root;
    call->is_plain = call->layout.contiguous && reduction_set(&call->reduction, call->type, call->op);
    if (call->is_plain)
        reduction_keep(&call->reduction, ordered_order());
    return true;
}

static bool serve(struct ordered *call, MPI_Count count, int *error)
{
    if (!understand(call, count))
        return false;
    if (device_call.here && !device_call.copied) { /* this call comes once more, with a copy in host memory */
        device_call.wanted = true;
        return false;
    }
    *error = run(call, count);
    return true;
}

bool ordered_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                    MPI_Comm comm, int *error)
{
    struct ordered call = {.send = send == MPI_IN_PLACE ? receive : send,
                           .receive = receive,
                           .type = type,
                           .op = op,
                           .comm = comm,
                           .root = root};
    return root >= 0 && serve(&call, count, error);
}

bool ordered_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       int *error)
{
    struct ordered call = {.send = send == MPI_IN_PLACE ? receive : send,
                           .receive = receive,
                           .type = type,
                           .op = op,
                           .comm = comm,
                           .root = -1};
    return serve(&call, count, error);
}

static bool serve_scatter(struct ordered *call, int *error)
{
    int64_t longest = 0;
    int ranks = 0;
    if (call->comm == MPI_COMM_NULL || ordered_order() == ORDER_FREE || call->receive == MPI_IN_PLACE)
        return false;
    PMPI_Comm_size(call->comm, &ranks);
    for (int rank = 0; rank < ranks; rank++) {
        int64_t count = block_of(call, rank);
        if (count < 0)
            return false;
        longest = count > longest ? count : longest;
    }
    return serve(call, longest, error);
}

bool ordered_reduce_scatter(const void *send, void *receive, const struct dispatch_vector *blocks, MPI_Count block,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *error)
{
    struct ordered call = {.send = send == MPI_IN_PLACE ? receive : send,
                           .receive = receive,
                           .type = type,
                           .op = op,
                           .comm = comm,
                           .root = -1,
                           .blocks = blocks,
                           .block = block,
                           .scatters = true};
    return serve_scatter(&call, error);
}
