/* How fast bytes just written by one rank of a node get into another's memory by one copy: the reader's, the writer's,
   or half by each. */
#ifndef UNISONO_COPY_SPEED_H
#define UNISONO_COPY_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "flags.h"

/* Sizes below this are copied several at a time, or reading the clock would be what is timed. */
enum { COPY_LEAST = 65536 };

struct copies {
    struct segment segment; /* per rank: its flags, then `most` bytes (at least COPY_LEAST) */
    struct flags flags;
    size_t head, each;
    size_t most;
    char *private_copy;
};

/* Collective over the ranks of a node. Takes less than `most` where memory is short; false when there is none. */
bool copies_create(struct copies *copies, MPI_Comm node, size_t most);
void copies_free(struct copies *copies);

/* GB/s (1e9 bytes a second), all copying ranks together: rank 0 alone or everybody at once, from and to the next rank,
   the fastest way and run of several. Collective; the result is on rank 0. */
double copies_bandwidth(struct copies *copies, size_t bytes, bool everybody);

/* This rank's own part of the shared memory, `most` bytes. */
char *copies_own(const struct copies *copies);

#endif
