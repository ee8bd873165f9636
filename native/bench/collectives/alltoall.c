/* Alltoall: everybody has a block for everybody. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    operation->send_bytes = operation->receive_bytes = operation->bytes * (size_t)operation->ranks;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Alltoall(send, (int)operation->bytes, MPI_BYTE, receive, (int)operation->bytes, MPI_BYTE, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int to = 0; to < operation->ranks; to++)
        block_fill((char *)send + (size_t)to * operation->bytes, operation->bytes, operation->rank, to, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return blocks_verify(operation, receive, operation->rank, repetition, problem);
}

const struct collective coll_alltoall = {
    .name = "alltoall", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
