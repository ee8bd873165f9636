/* Scatterv: rank 0 has a block of its own length for everybody. */
#include "all.h"
#include "blocks.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (!blocks_uneven(operation, 0, problem))
        return false;
    const size_t all = operation->rank == 0 ? operation->bytes * (size_t)operation->ranks : 0;
    const size_t own = (size_t)operation->counts[operation->rank];
    operation->send_bytes = all;
    operation->receive_bytes = own;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Scatterv(send, operation->counts, operation->offsets, MPI_BYTE, receive, (int)operation->receive_bytes,
                 MPI_BYTE, 0, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int to = 0; operation->rank == 0 && to < operation->ranks; to++)
        block_fill((char *)send + operation->offsets[to], (size_t)operation->counts[to], 0, to, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return block_verify(receive, operation->receive_bytes, 0, operation->rank, repetition, problem);
}

const struct collective coll_scatterv = {
    .name = "scatterv", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
