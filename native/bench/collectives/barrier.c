/* Barrier: nobody leaves before everybody came. It moves no data; check.c looks at when ranks came and left. */
#include "all.h"

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->bytes != 0)
        return problem_set(problem, "size: a barrier has no message; its size is 0");
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    (void)operation, (void)send, (void)receive;
    MPI_Barrier(comm);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    (void)operation, (void)send, (void)repetition;
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)operation, (void)send, (void)receive, (void)repetition, (void)problem;
    return true;
}

const struct collective coll_barrier = {
    .name = "barrier", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
