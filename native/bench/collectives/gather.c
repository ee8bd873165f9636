/* Gather: everybody contributes a block, rank 0 gets all blocks. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    operation->send_bytes = operation->bytes;
    operation->receive_bytes = operation->rank == 0 ? operation->bytes * (size_t)operation->ranks : 0;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Gather(send, (int)operation->bytes, MPI_BYTE, receive, (int)operation->bytes, MPI_BYTE, 0, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, operation->rank, 0, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return operation->rank != 0 || blocks_verify(operation, receive, 0, repetition, problem);
}

const struct collective coll_gather = {
    .name = "gather", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
