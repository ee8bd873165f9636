/* Allgatherv: everybody contributes a block of its own length, everybody gets all blocks. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (!blocks_uneven(operation, 0, problem))
        return false;
    operation->send_bytes = (size_t)operation->counts[operation->rank];
    operation->receive_bytes = operation->bytes * (size_t)operation->ranks;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Allgatherv(send, (int)operation->send_bytes, MPI_BYTE, receive, operation->counts, operation->offsets, MPI_BYTE,
                   comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, operation->rank, TO_ALL, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    for (int from = 0; from < operation->ranks; from++)
        if (!block_verify((const char *)receive + operation->offsets[from], (size_t)operation->counts[from], from,
                          TO_ALL, repetition, problem))
            return false;
    return true;
}

const struct collective coll_allgatherv = {
    .name = "allgatherv", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
