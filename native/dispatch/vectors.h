/* The blocks of calls with a length for each rank. */
#ifndef UNISONO_VECTORS_H
#define UNISONO_VECTORS_H

#include <stddef.h>

#include "dispatch.h"
#include "types.h"

/* The blocks of one side of a call, by rank or neighbour. */
struct blocks {
    const struct dispatch_vector *given; /* elements, as the program said */
    MPI_Datatype type;
    struct layout layout;
    const struct layout *layouts; /* by rank, where each has a type of its own; else NULL */
    int64_t *bytes, *at;          /* where they are in contiguous memory */
};

static inline int64_t vectors_count(const struct blocks *blocks, int rank)
{
    const struct dispatch_vector *given = blocks->given;
    return given->counts != NULL ? given->counts[rank] : (int64_t)given->long_counts[rank];
}

static inline MPI_Datatype vectors_type(const struct blocks *blocks, int rank)
{
    const struct dispatch_vector *given = blocks->given;
    if (blocks->layouts == NULL)
        return blocks->type;
    return given->types != NULL ? given->types[rank] : PMPI_Type_f2c(given->fortran_types[rank]);
}

static inline const struct layout *vectors_layout(const struct blocks *blocks, int rank)
{
    return blocks->layouts != NULL ? &blocks->layouts[rank] : &blocks->layout;
}

/* Bytes from the beginning of the program's memory. */
static inline int64_t vectors_place(const struct blocks *blocks, int rank)
{
    const struct dispatch_vector *given = blocks->given;
    return (given->at != NULL ? given->at[rank] : (int64_t)given->long_at[rank]) *
           (blocks->layouts != NULL ? 1 : blocks->layout.extent);
}

static inline bool vectors_given(const struct dispatch_vector *given)
{
    return (given->counts != NULL || given->long_counts != NULL) && (given->at != NULL || given->long_at != NULL);
}

#endif
