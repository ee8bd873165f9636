/* What a program gives for one side of a neighbourhood's call. */
#ifndef UNISONO_NEAR_SIDE_H
#define UNISONO_NEAR_SIDE_H

#include "vectors.h"

/* A vector, or (no counts) as much for each neighbour, or one block for all; elements of one type, or of types that are in the
 * vector. */
struct near_side {
    void *data;
    struct dispatch_vector vector;
    MPI_Count each;
    bool is_one, has_types;
    MPI_Datatype type;
};

static inline struct near_side near_one(const void *data, MPI_Count count, MPI_Datatype type)
{
    return (struct near_side){.data = (void *)(uintptr_t)data, .each = count, .is_one = true, .type = type};
}

static inline struct near_side near_each(const void *data, MPI_Count count, MPI_Datatype type)
{
    return (struct near_side){.data = (void *)(uintptr_t)data, .each = count, .type = type};
}

static inline struct near_side near_vector(const void *data, struct dispatch_vector vector, MPI_Datatype type)
{
    return (struct near_side){.data = (void *)(uintptr_t)data, .vector = vector, .type = type};
}

static inline struct near_side near_typed(const void *data, struct dispatch_vector vector)
{
    return (struct near_side){.data = (void *)(uintptr_t)data, .vector = vector, .has_types = true};
}

static inline bool near_has_vector(const struct near_side *side)
{
    return vectors_given(&side->vector);
}

/* Where block i is, and how long: elements, and for types of their own bytes. `i`: of a neighbour that is there. */
static inline int64_t near_count(const struct near_side *side, int i)
{
    const struct blocks program = {.given = &side->vector};
    return near_has_vector(side) ? vectors_count(&program, i) : (int64_t)side->each;
}

static inline MPI_Aint near_place(const struct near_side *side, int i)
{
    if (!near_has_vector(side))
        return side->is_one ? 0 : (MPI_Aint)(i * side->each);
    return side->vector.at != NULL ? side->vector.at[i] : side->vector.long_at[i];
}

/* As a vector in which who is not there has nothing: `counts` and `places` are room for one number of each neighbour. */
static inline struct dispatch_vector near_as_vector(const struct near_side *side, int neighbours, const int *rank,
                                                    MPI_Count *counts, MPI_Aint *places)
{
    struct dispatch_vector made = side->vector;
    for (int i = 0; i < neighbours; i++) {
        counts[i] = rank[i] < 0 ? 0 : (MPI_Count)near_count(side, i);
        places[i] = rank[i] < 0 ? 0 : near_place(side, i);
    }
    made.counts = made.at = NULL, made.long_counts = counts, made.long_at = places;
    return made;
}

/* Displacements in bytes may be addresses, the program's memory MPI_BOTTOM: from the first block on that has a length. What
 * `places` count from then. */
static inline char *near_from_first_block(char *data, int neighbours, const MPI_Count *counts, MPI_Aint *places)
{
    int first = 0;
    while (first < neighbours && counts[first] == 0)
        first++;
    if (first == neighbours)
        return data;
    const MPI_Aint base = places[first];
    for (int i = first; i < neighbours; i++)
        places[i] = (MPI_Aint)((uintptr_t)places[i] - (uintptr_t)base);
    return (char *)((uintptr_t)data + (uintptr_t)base);
}

#endif
