/* Combining a long vector by all ranks of a node: each combines a slice of it, chunk by chunk, in shared memory. */
#ifndef UNISONO_NODE_SLICES_H
#define UNISONO_NODE_SLICES_H

#include "../collectives.h"

/* Who gets what of the combined vector. */
enum slices_for {
    SLICES_ALL,  /* every rank all of it, at its place in `receive` */
    SLICES_ROOT, /* one rank all of it; `receive` may be NULL elsewhere */
    SLICES_OWN   /* every rank its slice, at the start of `receive` */
};

struct slices {
    enum slices_for which;
    int root;
    const void *send; /* the whole vector; may be equal to `receive` */
    void *receive;
    /* Elements [at[i], at[i + 1]) are the slice of local number i; NULL: `count` elements in slices of like length. */
    const int64_t *at;
    int64_t count;
    int64_t segment; /* bytes of a chunk, at most a cell; 0 or CELL_PIECE: what is usual, more where ranks share CPUs */
    const struct reduction *reduction;
};

/* The element with which local number `local`'s slice begins, of slices of like length; count * local / ranks may overflow. */
static inline int64_t slice_at(int64_t count, int64_t ranks, int local)
{
    return count / ranks * local + count % ranks * local / ranks;
}

/* Whether the node has cells that hold an element of each rank; the same on all ranks. */
bool node_slices_fit(struct coll_comm *comm, int64_t element);
/* Elements are combined in order of the local numbers, each by one rank for all. */
int node_slices(struct coll_comm *comm, const struct slices *slices);

#endif
