/* Nakajima's second microbenchmark: ranks are boxes of a cube, each exchanges as many bytes with each of its up to 26
 * neighbours (7, 11, 17 or 26 on a cube of cubes) by Isend, Irecv, Waitall. */
#include <stdlib.h>

#include "../cube.h"
#include "all.h"
#include "blocks.h"

/* Found once: `counts` holds how many they are, and then who. */
static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->ranks < 2)
        return problem_set(problem, "a halo needs two ranks");
    int parts[3] = {0, 0, 0}; /* the grid is MPI's own balanced one */
    MPI_Dims_create(operation->ranks, 3, parts);
    operation->counts = malloc((1 + CUBE_NEIGHBOURS) * sizeof *operation->counts);
    if (operation->counts == NULL)
        return problem_set(problem, "memory: no room for the neighbours");
    operation->counts[0] = cube_neighbours(operation->rank, parts, operation->counts + 1);
    operation->send_bytes = operation->receive_bytes = (size_t)operation->counts[0] * operation->bytes;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int count = operation->counts[0], *around = operation->counts + 1, bytes = (int)operation->bytes;
    MPI_Request requests[2 * CUBE_NEIGHBOURS];
    MPI_Status statuses[2 * CUBE_NEIGHBOURS]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    for (int i = 0; i < count; i++)
        MPI_Irecv((char *)receive + (size_t)i * operation->bytes, bytes, MPI_BYTE, around[i], 0, comm, &requests[i]);
    for (int i = 0; i < count; i++)
        MPI_Isend((char *)send + (size_t)i * operation->bytes, bytes, MPI_BYTE, around[i], 0, comm,
                  &requests[count + i]);
    MPI_Waitall(2 * count, requests, statuses);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    const int count = operation->counts[0], *around = operation->counts + 1;
    for (int i = 0; i < count; i++)
        block_fill((char *)send + (size_t)i * operation->bytes, operation->bytes, operation->rank, around[i],
                   repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    const int count = operation->counts[0], *around = operation->counts + 1;
    bool good = true;
    (void)send;
    for (int i = 0; i < count && good; i++)
        good = block_verify((const char *)receive + (size_t)i * operation->bytes, operation->bytes, around[i],
                            operation->rank, repetition, problem);
    return good;
}

const struct collective coll_halo26 = {
    .name = "halo26", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
