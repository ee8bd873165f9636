/* Combining elements: our own loops for the usual types and operations, MPI_Reduce_local for all others. */
#ifndef UNISONO_COLL_REDUCTION_H
#define UNISONO_COLL_REDUCTION_H

#include "collectives.h"

/* False when the call cannot be served: the type's size and extent differ, or it does not begin at its address. The same
 * on all ranks. */
bool reduction_set(struct reduction *reduction, MPI_Datatype type, MPI_Op op);

#endif
