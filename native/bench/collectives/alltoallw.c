/* Alltoallw: everybody has a block for everybody, as columns of a matrix are: in parts of 64 bytes, each followed by a gap as
   long, and gets it in one piece. What is too short for two parts has no gaps. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "all.h"
#include "blocks.h"

enum { PART = 64 };

static size_t parts_of(const struct operation *operation)
{
    return operation->bytes < 2 * PART ? 0 : operation->bytes / PART;
}

/* What a block spans where it is sent. */
static size_t span_of(const struct operation *operation)
{
    return operation->bytes + parts_of(operation) * PART;
}

/* So many parts, and what is left behind the last gap. */
static MPI_Datatype block_type(const struct operation *operation)
{
    const int parts = (int)parts_of(operation), rest = (int)(operation->bytes - (size_t)parts * PART);
    const int lengths[2] = {1, rest};
    const MPI_Aint at[2] = {0, 2 * PART * (MPI_Aint)parts};
    MPI_Datatype made, types[2] = {MPI_BYTE, MPI_BYTE};
    MPI_Type_vector(parts, PART, 2 * PART, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(rest > 0 ? 2 : 1, lengths, at, types, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&types[0]);
    return made;
}

static bool prepare(struct operation *operation, struct problem *problem)
{
    const size_t ranks = (size_t)operation->ranks, span = span_of(operation);
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
    operation->made = parts_of(operation) > 0 ? block_type(operation) : MPI_DATATYPE_NULL;
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

/* Filled in one piece, and then spread, the last part first. */
static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    const size_t parts = parts_of(operation), rest = operation->bytes - parts * PART;
    for (int to = 0; to < operation->ranks; to++) {
        char *block = (char *)send + operation->offsets[to];
        block_fill(block, operation->bytes, operation->rank, to, repetition);
        memmove(block + 2 * parts * PART, block + parts * PART, rest);
        for (size_t part = parts; part-- > 1;)
            memmove(block + 2 * part * PART, block + part * PART, PART);
    }
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return blocks_verify(operation, receive, operation->rank, repetition, problem);
}

const struct collective coll_alltoallw = {"alltoallw", prepare, run, fill, verify, 1};
