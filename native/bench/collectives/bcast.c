/* Bcast: rank 0 has a vector, everybody gets it. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    operation->send_bytes = operation->rank == 0 ? operation->bytes : 0;
    operation->receive_bytes = operation->rank == 0 ? 0 : operation->bytes;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Bcast(operation->rank == 0 ? send : receive, (int)operation->bytes, MPI_BYTE, 0, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, 0, TO_ALL, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    return block_verify(operation->rank == 0 ? send : receive, operation->bytes, 0, TO_ALL, repetition, problem);
}

const struct collective coll_bcast = {
    .name = "bcast", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
