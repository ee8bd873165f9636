/* Between memory laid out by a datatype and contiguous bytes. Local. MPI error codes. */
#ifndef UNISONO_PACK_H
#define UNISONO_PACK_H

#include "types.h"

/* `comm`: one that the program does not know; packed is as this process has it. */
int pack(const void *from, int64_t count, MPI_Datatype type, const struct layout *layout, void *to, MPI_Comm comm);
int unpack(const void *from, void *to, int64_t count, MPI_Datatype type, const struct layout *layout, MPI_Comm comm);

#endif
