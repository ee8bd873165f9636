/* How fast bytes just written by one rank of a node get into another's memory by one copy: the reader's, the writer's,
   or half by each; and how fast a rank copies what it has written itself. */
#ifndef UNISONO_COPY_SPEED_H
#define UNISONO_COPY_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "flags.h"

/* Sizes below this are copied several at a time, or reading the clock would be what is timed. */
enum { COPY_LEAST = 65536 };

struct copy_speed {
    struct segment segment; /* per rank: its flags, then `most` bytes (at least COPY_LEAST) */
    struct flags flags;
    size_t head, each;
    size_t most;
    int64_t measured;
    char *private_copy;
};

/* Collective over the ranks of a node. Takes less than `most` where memory is short; false when there is none. */
bool copy_speed_create(struct copy_speed *copies, MPI_Comm node, size_t most);
void copy_speed_free(struct copy_speed *copies);

/* Who copies: rank 0 alone or everybody at once, from and to the next rank; or everybody within its own memory. */
enum copiers { COPIES_ONE, COPIES_ALL, COPIES_OWN };

/* GB/s (1e9 bytes a second), all copying ranks together, the fastest way and run of several. Collective; the result is on
   rank 0. */
double copy_speed_bandwidth(struct copy_speed *copies, size_t bytes, enum copiers copiers);

/* This rank's own part of the shared memory, `most` bytes. */
char *copy_speed_own(const struct copy_speed *copies);

#endif
