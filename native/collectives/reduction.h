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

/* From now on in this order; ORDER_EXACT is ORDER_RANKS for what has no exact sum. */
void reduction_keep(struct reduction *reduction, enum reduction_order order);

/* of[0] op of[1] op ... of[vectors - 1] in the reduction's order, at least one. `result` may be any of them that is not
   read after another one has been combined into it: of[0] or of[1], or any one where there is `sum`. */
void reduction_fold(const struct reduction *reduction, const void *const *of, int vectors, void *result, int64_t count);

#endif
