/* Elements in memory as a row of bytes, of which a part at a time is packed, or unpacked from the beginning on. Parts may
 * end within an element. Local. MPI error codes. */
#ifndef UNISONO_STREAM_H
#define UNISONO_STREAM_H

#include "types.h"

struct stream {
    char *place; /* of the first element */
    MPI_Datatype type;
    const struct layout *layout;
    MPI_Comm comm; /* as pack.h has it */
    char *spare;   /* room for one element, kept from part to part; not used where the type has no gaps */
};

/* Bytes [at, at + bytes). Parts follow one another, from 0 on. */
int stream_pack(const struct stream *stream, int64_t at, int64_t bytes, char *to);
int stream_unpack(const struct stream *stream, int64_t at, int64_t bytes, const char *from);

#endif
