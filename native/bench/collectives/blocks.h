/* What the collectives that move data have in common: blocks filled and checked by sender and receiver. */
#ifndef UNISONO_BLOCKS_H
#define UNISONO_BLOCKS_H

#include "../operation.h"

/* A block that goes to everybody has this receiver. */
enum { TO_ALL = -1 };

void block_fill(void *block, size_t bytes, int from, int to, uint64_t repetition);

/* False, naming the block and the first wrong byte. */
bool block_verify(const void *block, size_t bytes, int from, int to, uint64_t repetition, struct problem *problem);

/* One block after the other from every rank, all of the operation's size, addressed to `to`. */
bool blocks_verify(const struct operation *operation, const void *receive, int to, uint64_t repetition,
                   struct problem *problem);

/* Fills counts and offsets with the ramp of counts.h, turned by `turn` places. False when an offset does not fit an
 * int. */
bool blocks_uneven(struct operation *operation, int turn, struct problem *problem);

#endif
