/* Reduce_scatter: everybody contributes a vector, each rank gets the sum of its part; parts are as even as elements allow. */
#include <stdlib.h>

#include "all.h"
#include "reduce_common.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    elements_prepare(operation);
    const size_t ranks = (size_t)operation->ranks, all = elements_in(operation, operation->bytes);
    operation->counts = malloc(ranks * sizeof(int));
    operation->offsets = malloc(ranks * sizeof(int));
    if (operation->counts == NULL || operation->offsets == NULL)
        return problem_set(problem, "memory: no room for %d counts", operation->ranks);
    for (size_t i = 0; i < ranks; i++) {
        operation->counts[i] = (int)(all / ranks + (i < all % ranks));
        operation->offsets[i] = i == 0 ? 0 : operation->offsets[i - 1] + operation->counts[i - 1];
    }
    operation->send_bytes = operation->bytes;
    operation->receive_bytes = (size_t)operation->counts[operation->rank] * (operation->bytes / (all > 0 ? all : 1));
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Reduce_scatter(send, receive, operation->counts, elements_type(operation), elements_op(operation), comm);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return elements_verify(operation, receive, (size_t)operation->offsets[operation->rank], operation->receive_bytes,
                           repetition, problem);
}

const struct collective coll_reduce_scatter = {
    .name = "reduce_scatter", .prepare = prepare, .run = run, .fill = elements_fill, .verify = verify, .transfers = 1};
