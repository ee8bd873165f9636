/* Nakajima's first microbenchmark: five allreduces one after the other, as an iteration of a solver has. The time
 * reported is that of one. */
#include "all.h"
#include "reduce_common.h"

enum { CALLS = 5 };

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->bytes > SIZE_MAX / CALLS)
        return problem_set(problem, "size: five vectors do not fit");
    elements_prepare(operation);
    operation->send_bytes = operation->receive_bytes = CALLS * operation->bytes;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int count = (int)elements_in(operation, operation->bytes);
    for (int call = 0; call < CALLS; call++) {
        size_t at = (size_t)call * operation->bytes;
        MPI_Allreduce((char *)send + at, (char *)receive + at, count, elements_type(operation), elements_op(operation),
                      comm);
    }
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return elements_verify(operation, receive, 0, operation->receive_bytes, repetition, problem);
}

const struct collective coll_allreduce5 = {
    .name = "allreduce5", .prepare = prepare, .run = run, .fill = elements_fill, .verify = verify, .transfers = CALLS};
