/* Reduce_scatter_block: everybody contributes a vector of one block a rank, each rank gets the sum of its block. */
#include <limits.h>

#include "all.h"
#include "reduce_common.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    elements_prepare(operation);
    operation->send_bytes = operation->bytes * (size_t)operation->ranks;
    operation->receive_bytes = operation->bytes;
    if (elements_in(operation, operation->send_bytes) > INT_MAX)
        return problem_set(problem, "size: %d blocks of %zu bytes are more elements than MPI libraries count",
                           operation->ranks, operation->bytes);
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Reduce_scatter_block(send, receive, (int)elements_in(operation, operation->bytes), elements_type(operation),
                             elements_op(operation), comm);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    size_t first = (size_t)operation->rank * elements_in(operation, operation->bytes);
    return elements_verify(operation, receive, first, operation->bytes, repetition, problem);
}

const struct collective coll_reduce_scatter_block = {.name = "reduce_scatter_block",
                                                     .prepare = prepare,
                                                     .run = run,
                                                     .fill = elements_fill,
                                                     .verify = verify,
                                                     .transfers = 1};
