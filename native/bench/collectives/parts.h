/* Blocks of types of their own, as columns of a matrix are: in parts of 64 bytes, each followed by a gap as long, where they are
   sent. What is too short for two parts has no gaps. */
#ifndef UNISONO_PARTS_H
#define UNISONO_PARTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* What a block of so many bytes spans where it is sent. */
size_t parts_span(size_t bytes);

/* Its type, to be freed; MPI_DATATYPE_NULL: it has no gaps. */
MPI_Datatype parts_type(size_t bytes);

void parts_fill(void *block, size_t bytes, int from, int to, uint64_t repetition);

#endif
