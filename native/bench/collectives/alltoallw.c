/* Alltoallw: everybody has a block for everybody, in parts with gaps (parts.h), and gets it in one piece. */
#include <limits.h>
#include <stdlib.h>

#include "all.h"
#include "blocks.h"
#include "parts.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    const size_t ranks = (size_t)operation->ranks, span = parts_span(operation->bytes);
    if (span * ranks > INT_MAX)
        return problem_set(problem, "size: %zu blocks of %zu bytes lie beyond what MPI displacements can say", ranks,
                           span);
    operation->send_bytes = span * ranks;
    operation->receive_bytes = operation->bytes * ranks;
    operation->counts = malloc(2 * ranks * sizeof(int));
    operation->offsets = malloc(2 * ranks * sizeof(int));
    operation->types = malloc(2 * ranks * sizeof *operation->types);
    if (operation->counts == NULL || operation->offsets == NULL || operation->types == NULL)
        return problem_set(problem, "memory: no room for %zu counts", ranks);
    operation->made = parts_type(operation->bytes);
    for (size_t i = 0; i < ranks; i++) {
        const bool gaps = operation->made != MPI_DATATYPE_NULL;
        operation->counts[i] = gaps ? 1 : (int)operation->bytes;
        operation->offsets[i] = (int)(i * span);
        operation->types[i] = gaps ? operation->made : MPI_BYTE;
        operation->counts[ranks + i] = (int)operation->bytes;
        operation->offsets[ranks + i] = (int)(i * operation->bytes);
        operation->types[ranks + i] = MPI_BYTE;
    }
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int ranks = operation->ranks;
    MPI_Alltoallw(send, operation->counts, operation->offsets, operation->types, receive, operation->counts + ranks,
                  operation->offsets + ranks, operation->types + ranks, comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int to = 0; to < operation->ranks; to++)
        parts_fill((char *)send + operation->offsets[to], operation->bytes, operation->rank, to, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return blocks_verify(operation, receive, operation->rank, repetition, problem);
}

const struct collective coll_alltoallw = {
    .name = "alltoallw", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
