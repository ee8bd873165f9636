/* Gatherv: rank 0 gets everybody's block, each of its own length. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (!blocks_uneven(operation, 0, problem))
        return false;
    const size_t all = operation->rank == 0 ? operation->bytes * (size_t)operation->ranks : 0;
    const size_t own = (size_t)operation->counts[operation->rank];
    operation->send_bytes = own;
    operation->receive_bytes = all;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Gatherv(send, (int)operation->send_bytes, MPI_BYTE, receive, operation->counts, operation->offsets, MPI_BYTE, 0,
                comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, operation->rank, 0, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    for (int from = 0; operation->rank == 0 && from < operation->ranks; from++)
        if (!block_verify((const char *)receive + operation->offsets[from], (size_t)operation->counts[from], from, 0,
                          repetition, problem))
            return false;
    return true;
}

const struct collective coll_gatherv = {
    .name = "gatherv", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
