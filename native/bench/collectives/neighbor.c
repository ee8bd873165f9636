/* Neighbourhoods: every rank has up to six neighbours in a grid (grid.h), and a block for each, or one for all of them. The
   v's lengths: that of a pair is known by both its ranks, that of an allgatherv is the sender's. An alltoallw sends parts with
   gaps (parts.h), and receives them in one piece. */
#include <stdlib.h>

#include "../counts.h"
#include "../grid.h"
#include "all.h"
#include "blocks.h"
#include "parts.h"

enum { NEIGHBOURS = GRID_NEIGHBOURS };

/* `counts`: of the blocks sent, of those received, and who is there; `offsets`: where they are. */
static int neighbour(const struct operation *operation, int i)
{
    return operation->counts[2 * NEIGHBOURS + i];
}

static bool prepare(struct operation *operation, struct problem *problem, bool gathers, bool varies)
{
    const int ranks = operation->ranks, rank = operation->rank;
    operation->counts = malloc(3 * NEIGHBOURS * sizeof(int));
    operation->offsets = malloc(2 * NEIGHBOURS * sizeof(int));
    if (ranks < 2)
        return problem_set(problem, "a neighbourhood needs two ranks");
    if (operation->counts == NULL || operation->offsets == NULL)
        return problem_set(problem, "memory: no room for the neighbours");
    if (operation->bytes > INT32_MAX / (2 * NEIGHBOURS))
        return problem_set(problem, "size: blocks of %zu bytes lie beyond what MPI displacements can say",
                           operation->bytes);
    grid_neighbours(rank, ranks, operation->counts + 2 * NEIGHBOURS);
    int sent = 0, received = 0;
    for (int i = 0; i < NEIGHBOURS; i++) {
        const int other = neighbour(operation, i), mean = (int)operation->bytes;
        const int pair = (int)counts_uneven(mean, (rank + other + 1) % ranks, ranks);
        const int leaves = !varies ? mean : gathers ? (int)counts_uneven(mean, rank, ranks) : pair;
        const int comes = !varies ? mean : gathers && other >= 0 ? (int)counts_uneven(mean, other, ranks) : pair;
        operation->counts[i] = leaves, operation->counts[NEIGHBOURS + i] = comes;
        operation->offsets[i] = gathers ? 0 : sent, operation->offsets[NEIGHBOURS + i] = received;
        sent = gathers ? leaves : sent + leaves;
        received += comes;
    }
    operation->send_bytes = (size_t)sent, operation->receive_bytes = (size_t)received;
    return true;
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int i = 0; i < NEIGHBOURS; i++)
        if (neighbour(operation, i) >= 0)
            block_fill((char *)send + operation->offsets[i], (size_t)operation->counts[i], operation->rank,
                       neighbour(operation, i), repetition);
}

static void fill_one(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, (size_t)operation->counts[0], operation->rank, TO_ALL, repetition);
}

static bool verify_for(const struct operation *operation, const void *receive, int to, uint64_t repetition,
                       struct problem *problem)
{
    bool good = true;
    for (int i = 0; i < NEIGHBOURS && good; i++)
        if (neighbour(operation, i) >= 0)
            good = block_verify((const char *)receive + operation->offsets[NEIGHBOURS + i],
                                (size_t)operation->counts[NEIGHBOURS + i], neighbour(operation, i), to, repetition,
                                problem);
    return good;
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return verify_for(operation, receive, operation->rank, repetition, problem);
}

static bool verify_one(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                       struct problem *problem)
{
    (void)send;
    return verify_for(operation, receive, TO_ALL, repetition, problem);
}

static bool prepare_allgather(struct operation *operation, struct problem *problem)
{
    return prepare(operation, problem, true, false);
}

static bool prepare_allgatherv(struct operation *operation, struct problem *problem)
{
    return prepare(operation, problem, true, true);
}

static bool prepare_alltoall(struct operation *operation, struct problem *problem)
{
    return prepare(operation, problem, false, false);
}

static bool prepare_alltoallv(struct operation *operation, struct problem *problem)
{
    return prepare(operation, problem, false, true);
}

static bool prepare_alltoallw(struct operation *operation, struct problem *problem)
{
    const size_t span = parts_span(operation->bytes);
    if (!prepare(operation, problem, false, false))
        return false;
    operation->far = malloc(2 * NEIGHBOURS * sizeof *operation->far);
    operation->types = malloc(2 * NEIGHBOURS * sizeof *operation->types);
    if (operation->far == NULL || operation->types == NULL)
        return problem_set(problem, "memory: no room for the neighbours");
    operation->made = parts_type(operation->bytes);
    operation->send_bytes = NEIGHBOURS * span;
    for (int i = 0; i < NEIGHBOURS; i++) {
        const bool gaps = operation->made != MPI_DATATYPE_NULL;
        operation->counts[i] = gaps ? 1 : (int)operation->bytes;
        operation->types[i] = gaps ? operation->made : MPI_BYTE;
        operation->types[NEIGHBOURS + i] = MPI_BYTE;
        operation->far[i] = i * (MPI_Aint)span;
        operation->far[NEIGHBOURS + i] = operation->offsets[NEIGHBOURS + i];
    }
    return true;
}

static void fill_parts(const struct operation *operation, void *send, uint64_t repetition)
{
    for (int i = 0; i < NEIGHBOURS; i++)
        if (neighbour(operation, i) >= 0)
            parts_fill((char *)send + operation->far[i], operation->bytes, operation->rank, neighbour(operation, i),
                       repetition);
}

static void run_allgather(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int bytes = (int)operation->bytes;
    MPI_Neighbor_allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, grid_of(comm));
}

static void run_allgatherv(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Neighbor_allgatherv(send, operation->counts[0], MPI_BYTE, receive, operation->counts + NEIGHBOURS,
                            operation->offsets + NEIGHBOURS, MPI_BYTE, grid_of(comm));
}

static void run_alltoall(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    const int bytes = (int)operation->bytes;
    MPI_Neighbor_alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, grid_of(comm));
}

static void run_alltoallv(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Neighbor_alltoallv(send, operation->counts, operation->offsets, MPI_BYTE, receive,
                           operation->counts + NEIGHBOURS, operation->offsets + NEIGHBOURS, MPI_BYTE, grid_of(comm));
}

static void run_alltoallw(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    MPI_Neighbor_alltoallw(send, operation->counts, operation->far, operation->types, receive,
                           operation->counts + NEIGHBOURS, operation->far + NEIGHBOURS, operation->types + NEIGHBOURS,
                           grid_of(comm));
}

const struct collective coll_neighbor_allgather = {.name = "neighbor_allgather",
                                                   .prepare = prepare_allgather,
                                                   .run = run_allgather,
                                                   .fill = fill_one,
                                                   .verify = verify_one,
                                                   .transfers = 1};
const struct collective coll_neighbor_allgatherv = {.name = "neighbor_allgatherv",
                                                    .prepare = prepare_allgatherv,
                                                    .run = run_allgatherv,
                                                    .fill = fill_one,
                                                    .verify = verify_one,
                                                    .transfers = 1};
const struct collective coll_neighbor_alltoall = {.name = "neighbor_alltoall",
                                                  .prepare = prepare_alltoall,
                                                  .run = run_alltoall,
                                                  .fill = fill,
                                                  .verify = verify,
                                                  .transfers = 1};
const struct collective coll_neighbor_alltoallv = {.name = "neighbor_alltoallv",
                                                   .prepare = prepare_alltoallv,
                                                   .run = run_alltoallv,
                                                   .fill = fill,
                                                   .verify = verify,
                                                   .transfers = 1};
const struct collective coll_neighbor_alltoallw = {.name = "neighbor_alltoallw",
                                                   .prepare = prepare_alltoallw,
                                                   .run = run_alltoallw,
                                                   .fill = fill_parts,
                                                   .verify = verify,
                                                   .transfers = 1};
