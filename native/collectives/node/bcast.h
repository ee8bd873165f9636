/* Ways to broadcast on one node, in shared memory. */
#ifndef UNISONO_NODE_BCAST_H
#define UNISONO_NODE_BCAST_H

#include "../collectives.h"

/* In the cache line of the flag: at most LINE_ROOM bytes. */
int node_bcast_inline(struct coll_comm *comm, int root, void *data, int64_t bytes);
/* Through cells, of which the root writes one while the others read those before. `segment`: bytes in a cell, no more
 * than it holds; 0 or BCAST_SEGMENT: what is usual, less of short messages, more where ranks share CPUs. */
enum { BCAST_SEGMENT = 16 << 10 };
int node_bcast_cells(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment);
/* Single copy: everybody reads the first part of the root's memory, which writes the rest of theirs meanwhile. */
int node_bcast_pull(struct coll_comm *comm, int root, void *data, int64_t bytes);

#endif
