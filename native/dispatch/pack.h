/* Between memory laid out by a datatype and contiguous bytes. Local. MPI error codes. */
#ifndef UNISONO_PACK_H
#define UNISONO_PACK_H

#include "types.h"

/* `comm`: any where an element has at most INT_MAX bytes, else one that the program does not know, as a longer one goes through
 * it as a message; packed is as this process has it. */
int pack(const void *from, int64_t count, MPI_Datatype type, const struct layout *layout, void *to, MPI_Comm comm);
int unpack(const void *from, void *to, int64_t count, MPI_Datatype type, const struct layout *layout, MPI_Comm comm);

#endif
