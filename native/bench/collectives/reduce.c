/* Reduce: everybody contributes a vector, rank 0 gets their sum. */
#include "all.h"
#include "reduce_common.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    elements_prepare(operation);
    operation->send_bytes = operation->bytes;
    operation->receive_bytes = operation->rank == 0 ? operation->bytes : 0;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Reduce(send, receive, (int)elements_in(operation, operation->bytes), elements_type(operation),
               elements_op(operation), 0, comm);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return operation->rank != 0 || elements_verify(operation, receive, 0, operation->bytes, repetition, problem);
}

const struct collective coll_reduce = {
    .name = "reduce", .prepare = prepare, .run = run, .fill = elements_fill, .verify = verify, .transfers = 1};
