/* Combining what the ranks of a node have posted, in order of their local numbers. */
#ifndef UNISONO_NODE_COMBINE_H
#define UNISONO_NODE_COMBINE_H

#include "cells.h"

/* Of everybody's cell of a step the elements from byte `at` on, in pieces of `piece` (cell_piece_of). `expects`: in the
 * next step everybody posts the same again. */
struct posted {
    uint64_t step;
    int64_t piece, at;
    bool expects;
};

/* Waits for each in turn; `own` are this rank's, wherever they are, `result` may be none of them but rank 0's or 1's. */
void combine_posted(struct coll_comm *comm, const struct posted *posted, const void *own, void *result, int64_t count,
                    const struct reduction *reduction);
/* The same of what everybody else has beside its flag. */
void combine_lines(struct coll_comm *comm, uint64_t step, const void *own, void *result, int64_t count,
                   const struct reduction *reduction);

#endif
