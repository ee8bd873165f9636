/* Combining elements: our own loops for the usual types and operations, MPI_Reduce_local for all others. */
#ifndef UNISONO_COLL_REDUCTION_H
#define UNISONO_COLL_REDUCTION_H

#include "collectives.h"

/* Bytes; elements that are longer are the MPI library's. */
enum { REDUCTION_ELEMENT_MOST = 8 << 10 };

/* Operands that the operation is given are aligned as malloc's memory, and to 32 or 64 bytes where the element's size is
 * a multiple of that; wherever the combined data lies.
 *
 * False when the call cannot be served: elements of the type are not the bytes of their extent, from their address on.
 * The same on all ranks. */
bool reduction_set(struct reduction *reduction, MPI_Datatype type, MPI_Op op);

#endif
