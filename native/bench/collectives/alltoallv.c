/* Alltoallv: everybody has a block of its own length for everybody. Ranks i and j exchange blocks of the same length,
   the one at (i + j) mod ranks on the ramp: every rank sends and receives the same total, with each length once. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    operation->send_bytes = operation->receive_bytes = operation->bytes * (size_t)operation->ranks;
    return blocks_uneven(operation, operation->rank, problem);
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Alltoallv(send, operation->counts, operation->offsets, MPI_BYTE, receive, operation->counts, operation->offsets,
                  MPI_BYTE, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int to = 0; to < operation->ranks; to++)
        block_fill((char *)send + operation->offsets[to], (size_t)operation->counts[to], operation->rank, to,
                   repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    for (int from = 0; from < operation->ranks; from++)
        if (!block_verify((const char *)receive + operation->offsets[from], (size_t)operation->counts[from], from,
                          operation->rank, repetition, problem))
            return false;
    return true;
}

const struct collective coll_alltoallv = {
    .name = "alltoallv", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
