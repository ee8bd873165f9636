/* Memory shared by the ranks of one node: our own, so that synchronising never uses the library under test. */
#ifndef UNISONO_SEGMENT_H
#define UNISONO_SEGMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

/* Alignment of everything two ranks write: two cache lines, because processors fetch neighbours in pairs. */
enum { LINE = 128, SEGMENT_PAGE = 4096 };

struct segment {
    void *base;
    size_t bytes;
};

/* Collective over `node`, the communicator of the ranks of one node: zeroed memory, the same on all: `head` bytes, then
   `each` bytes for every rank, both multiples of SEGMENT_PAGE. Every rank makes its own part, so that it lies in memory
   near it. False on all of them, with a sentence, when it is not to be had. Processes that die leave nothing behind
   (common/shared_memory.h). */
bool segment_create(struct segment *segment, MPI_Comm node, size_t head, size_t each, struct problem *problem);
void segment_free(struct segment *segment);

static inline size_t page_round(size_t bytes)
{
    return (bytes + SEGMENT_PAGE - 1) / SEGMENT_PAGE * SEGMENT_PAGE;
}

#endif
