/* What is worth knowing about a datatype, found once: the predefined ones at the start, others when they are first
 * used, kept with them as an attribute. */
#ifndef UNISONO_TYPES_H
#define UNISONO_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Of what kind MPI says that it is (MPI 4.1, 6.9.2). */
enum type_kind {
    OF_OTHERS,
    OF_INTEGER,
    OF_FORTRAN_INTEGER,
    OF_REAL,
    OF_COMPLEX,
    OF_LOGICAL,
    OF_BYTE,
    OF_ADDRESS,
    OF_PAIR
};

struct layout {
    int64_t size, extent; /* bytes */
    /* Elements in memory are the bytes of their data, in order, without gaps. Not said of every type that is so: those
       are packed, which is right too. */
    bool contiguous;
    enum type_kind kind; /* of predefined types */
};

bool types_start(void);
void types_finish(void);

/* False when it is no datatype. */
bool types_layout(MPI_Datatype type, struct layout *layout);

/* count elements, as bytes; -1: too many, or not a count. */
static inline int64_t types_bytes(MPI_Count count, const struct layout *layout)
{
    int64_t bytes;
    return count < 0 || __builtin_mul_overflow((int64_t)count, layout->size, &bytes) ? -1 : bytes;
}

/* Whether MPI lets this operation combine elements of this kind, and whether it is one of MPI's or made by the program. */
enum op_kind { OP_FORBIDDEN, OP_PREDEFINED, OP_OWN };
enum op_kind types_op(enum type_kind kind, MPI_Op op);

#endif
