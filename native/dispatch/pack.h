/* Between memory laid out by a datatype and contiguous bytes. Local. MPI error codes. */
#ifndef UNISONO_PACK_H
#define UNISONO_PACK_H

#include "types.h"

/* `comm`: any; packed is as this process has it. One element of a type that is not contiguous may have at most INT_MAX
 * bytes. */
int pack(const void *from, int64_t count, MPI_Datatype type, const struct layout *layout, void *to, MPI_Comm comm);
int unpack(const void *from, void *to, int64_t count, MPI_Datatype type, const struct layout *layout, MPI_Comm comm);

#endif
