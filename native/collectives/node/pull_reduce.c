#include "pull_reduce.h"

#include <string.h>

#include "cells.h"
#include "node.h"
#include "slices.h"

/* What is read of another's memory at a time, bytes: what is combined of three such pieces stays in a core's own cache. */
static const int64_t most = 256 << 10;

/* What a rank offers of its memory in the first step. */
struct offered {
    uint64_t send, receive;
};

/* One call, of one rank. */
struct work {
    struct coll_comm *comm;
    const struct reduction *reduction;
    const char *send;       /* this rank's part of its own vector */
    char *receive;          /* where its part of the result comes to lie; NULL: nowhere in its own memory */
    int64_t at, bytes;      /* of that part, in everybody's vector */
    int64_t piece;          /* bytes that are combined at a time */
    int to, until;          /* local numbers whose results get that part, too */
    struct offered *others; /* by local number */
    char *read, *result, *own;
};

static int64_t whole_lines(int64_t bytes)
{
    const int64_t line = 64;
    return (bytes + line - 1) / line * line;
}

static bool has_room(struct work *work)
{
    const int64_t element = work->reduction->element, ranks = work->comm->node->ranks;
    work->piece = most > element ? most / element * element : element;
    const int64_t apart = whole_lines(work->piece), offers = whole_lines((int64_t)sizeof *work->others * ranks);
    char *room = coll_scratch(work->comm, SCRATCH_NODE, offers + 3 * apart);
    if (room == NULL)
        return false;
    work->others = (struct offered *)(void *)room;
    work->read = room + offers;
    work->result = work->read + apart;
    work->own = work->result + apart;
    return true;
}

static struct offered *offered_by(const struct node *node, int local, uint64_t step)
{
    return (struct offered *)(void *)line_of(node, local, step)->payload;
}

static void offer(const struct work *work, uint64_t step, const void *send, const void *receive)
{
    struct node *node = work->comm->node;
    line_room(work->comm, step);
    *offered_by(node, node->rank, step) = (struct offered){pull_address(send), pull_address(receive)};
    line_post(node, step);
}

static void await_offers(const struct work *work, uint64_t step)
{
    const struct node *node = work->comm->node;
    for (int local = 0; local < node->ranks; local++)
        if (local != node->rank) {
            line_wait(work->comm, local, step);
            work->others[local] = *offered_by(node, local, step);
        }
}

/* This rank's part from `from` on, combined. Where its own elements lie in the result they must not be lost to those of the
   ranks before it. */
static int combine_piece(const struct work *work, int64_t from, int64_t bytes, char *result)
{
    const struct node *node = work->comm->node;
    const struct reduction *reduction = work->reduction;
    const char *mine = work->send + from, *left = NULL;
    if (mine == result && node->rank > 0)
        mine = memcpy(work->own, mine, (size_t)bytes);
    for (int local = 0; local < node->ranks; local++) {
        const char *right = mine;
        if (local != node->rank) {
            char *to = local == 0 ? result : work->read;
            const uint64_t where = work->others[local].send + (uint64_t)(work->at + from);
            const int error = pull_read(&node->pull, local, where, to, bytes);
            if (error)
                return error;
            right = to;
        }
        if (local > 0)
            reduction->combine(reduction, left, right, result, bytes / reduction->element);
        left = local > 0 ? result : right;
    }
    return MPI_SUCCESS;
}

static int write_piece(const struct work *work, int64_t from, int64_t bytes, const char *result)
{
    const struct node *node = work->comm->node;
    int error = MPI_SUCCESS;
    /* Each begins behind itself, or all would write to the same one at once. */
    for (int i = 1; i < node->ranks && error == MPI_SUCCESS; i++) {
        const int local = (node->rank + i) % node->ranks;
        if (local >= work->to && local < work->until)
            error = pull_write(&node->pull, local, work->others[local].receive + (uint64_t)(work->at + from), result,
                               bytes);
    }
    return error;
}

/* Where one cannot be read or written all others' are left alone. */
static int combine_part(const struct work *work)
{
    int error = MPI_SUCCESS;
    for (int64_t from = 0; from < work->bytes && error == MPI_SUCCESS; from += work->piece) {
        const int64_t bytes = work->bytes - from < work->piece ? work->bytes - from : work->piece;
        char *result = work->receive != NULL ? work->receive + from : work->result;
        error = combine_piece(work, from, bytes, result);
        if (error == MPI_SUCCESS)
            error = write_piece(work, from, bytes, result);
    }
    return error;
}

/* Everybody offers its memory in the first step; in the second it says that it has done with the others'. `send`, `receive`: of
   whole vectors. */
static int combine_all(struct work *work, const void *send, const void *receive)
{
    struct coll_comm *comm = work->comm;
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 2);
    int error = has_room(work) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    offer(work, step, send, receive);
    if (error == MPI_SUCCESS) {
        await_offers(work, step);
        error = wait_outcome(comm);
    }
    if (error == MPI_SUCCESS)
        error = combine_part(work);
    line_room(comm, step + 1);
    line_of(node, node->rank, step + 1)->payload[0] = error != MPI_SUCCESS;
    line_post(node, step + 1);
    for (int local = 0; local < node->ranks; local++)
        if (local != node->rank && line_wait(comm, local, step + 1)->payload[0] != 0 && error == MPI_SUCCESS)
            error = MPI_ERR_OTHER;
    node_pass(node, step + 2);
    return error ? error : wait_outcome(comm);
}

int node_reduce_scatter_pull(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                             const int64_t *at, const struct reduction *reduction)
{
    const int me = comm->node->rank;
    struct work work = {.comm = comm,
                        .reduction = reduction,
                        .send = (const char *)send + at[me],
                        .receive = receive,
                        .at = at[me],
                        .bytes = bytes[me]};
    return combine_all(&work, send, receive);
}

/* This rank combines one slice of a vector, for local numbers from `to` to below `until`. */
static int combine_slice(struct coll_comm *comm, int to, int until, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    const int me = comm->node->rank, ranks = comm->node->ranks;
    const int64_t at = slice_at(count, ranks, me) * reduction->element;
    struct work work = {.comm = comm,
                        .reduction = reduction,
                        .send = (const char *)send + at,
                        .receive = me >= to && me < until ? (char *)receive + at : NULL,
                        .at = at,
                        .bytes = slice_at(count, ranks, me + 1) * reduction->element - at,
                        .to = to,
                        .until = until};
    return combine_all(&work, send, receive);
}

int node_allreduce_pull(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction)
{
    return combine_slice(comm, 0, comm->node->ranks, send, receive, count, reduction);
}

int node_reduce_pull(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction)
{
    return combine_slice(comm, root, root + 1, send, receive, count, reduction);
}
