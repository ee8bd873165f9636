/* A step of a program's point-to-point messages: each rank sends as many bytes to each of its partners, by Irecv,
 * Isend, Waitall. */
#include <stdlib.h>

#include "../partners.h"
#include "all.h"
#include "blocks.h"

/* Found once: `counts` holds how many are sent to, and then who; `offsets` the same of who is received from. */
static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->ranks < 2)
        return problem_set(problem, "an exchange needs two ranks");
    operation->counts = malloc((1 + PARTNERS_MOST) * sizeof *operation->counts);
    operation->offsets = malloc((1 + PARTNERS_MOST) * sizeof *operation->offsets);
    if (operation->counts == NULL || operation->offsets == NULL)
        return problem_set(problem, "memory: no room for the partners");
    if (!partners_of(operation->partners, operation->rank, operation->ranks, operation->counts + 1, operation->counts,
                     operation->offsets + 1, operation->offsets, problem))
        return false;
    operation->send_bytes = (size_t)operation->counts[0] * operation->bytes;
    operation->receive_bytes = (size_t)operation->offsets[0] * operation->bytes;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int *targets = operation->counts, *sources = operation->offsets, bytes = (int)operation->bytes;
    MPI_Request requests[2 * PARTNERS_MOST];
    int count = 0;
    for (int i = 0; i < sources[0]; i++)
        MPI_Irecv((char *)receive + (size_t)i * operation->bytes, bytes, MPI_BYTE, sources[1 + i], 0, comm,
                  &requests[count++]);
    for (int i = 0; i < targets[0]; i++)
        MPI_Isend((char *)send + (size_t)i * operation->bytes, bytes, MPI_BYTE, targets[1 + i], 0, comm,
                  &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    const int *targets = operation->counts;
    for (int i = 0; i < targets[0]; i++)
        block_fill((char *)send + (size_t)i * operation->bytes, operation->bytes, operation->rank, targets[1 + i],
                   repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    const int *sources = operation->offsets;
    bool good = true;
    (void)send;
    for (int i = 0; i < sources[0] && good; i++)
        good = block_verify((const char *)receive + (size_t)i * operation->bytes, operation->bytes, sources[1 + i],
                            operation->rank, repetition, problem);
    return good;
}

const struct collective coll_exchange = {"exchange", prepare, run, fill, verify, 1};
