/* Allreduce: everybody contributes a vector, everybody gets their sum. */
#include "all.h"
#include "reduce_common.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    (void)problem;
    elements_prepare(operation);
    operation->send_bytes = operation->receive_bytes = operation->bytes;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Allreduce(send, receive, (int)elements_in(operation, operation->bytes), elements_type(operation),
                  elements_op(operation), comm);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return elements_verify(operation, receive, 0, operation->bytes, repetition, problem);
}

const struct collective coll_allreduce = {
    .name = "allreduce", .prepare = prepare, .run = run, .fill = elements_fill, .verify = verify, .transfers = 1};
