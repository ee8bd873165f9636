#include "parts.h"

#include <string.h>

#include "blocks.h"

enum { PART = 64 };

static size_t parts_of(size_t bytes)
{
    return bytes < 2 * PART ? 0 : bytes / PART;
}

size_t parts_span(size_t bytes)
{
    return bytes + parts_of(bytes) * PART;
}

/* So many parts, and what is left behind the last gap. */
MPI_Datatype parts_type(size_t bytes)
{
    const int parts = (int)parts_of(bytes), rest = (int)(bytes - (size_t)parts * PART);
    const int lengths[2] = {1, rest};
    const MPI_Aint at[2] = {0, 2 * PART * (MPI_Aint)parts};
    MPI_Datatype made, types[2] = {MPI_BYTE, MPI_BYTE};
    if (parts == 0)
        return MPI_DATATYPE_NULL;
    MPI_Type_vector(parts, PART, 2 * PART, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(rest > 0 ? 2 : 1, lengths, at, types, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&types[0]);
    return made;
}

/* Filled in one piece, and then spread, the last part first. */
void parts_fill(void *block, size_t bytes, int from, int to, uint64_t repetition)
{
    const size_t parts = parts_of(bytes), rest = bytes - parts * PART;
    char *first = block;
    block_fill(block, bytes, from, to, repetition);
    memmove(first + 2 * parts * PART, first + parts * PART, rest);
    for (size_t part = parts; part-- > 1;)
        memmove(first + 2 * part * PART, first + part * PART, PART);
}
