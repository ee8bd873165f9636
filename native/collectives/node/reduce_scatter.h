/* Ways to combine on one node a block for each rank, in shared memory. bytes[i], at[i]: of local number i's block in
 * everybody's `send`, the same on all ranks; `receive` is apart from `send`. Blocks are combined in order of the local
 * numbers. */
#ifndef UNISONO_NODE_REDUCE_SCATTER_H
#define UNISONO_NODE_REDUCE_SCATTER_H

#include "../collectives.h"

/* In the cache line of the flag: at most LINE_ROOM bytes of the others' blocks together, only where node_shares(). */
int node_reduce_scatter_inline(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                               const int64_t *at, const struct reduction *reduction);
/* Everybody reads its blocks in everybody's cells. Only where a cell has room for an element of each rank. */
int node_reduce_scatter_cells(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                              const int64_t *at, const struct reduction *reduction);

#endif
