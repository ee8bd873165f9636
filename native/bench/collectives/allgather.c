/* Allgather: everybody contributes a block, everybody gets all blocks. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    operation->send_bytes = operation->bytes;
    operation->receive_bytes = operation->bytes * (size_t)operation->ranks;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Allgather(send, (int)operation->bytes, MPI_BYTE, receive, (int)operation->bytes, MPI_BYTE, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, operation->rank, TO_ALL, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return blocks_verify(operation, receive, TO_ALL, repetition, problem);
}

const struct collective coll_allgather = {
    .name = "allgather", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
