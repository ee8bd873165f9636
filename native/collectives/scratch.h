/*
 * The memory that a communicator's calls take beside their buffers, kept for the next: coll_scratch() of collectives.h.
 */
#ifndef UNISONO_SCRATCH_H
#define UNISONO_SCRATCH_H

struct scratch;

/* Nothing yet; NULL: no memory. */
struct scratch *scratch_new(void);
void scratch_free(struct scratch *scratch);

#endif
