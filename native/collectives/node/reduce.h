/* Ways to combine on one node for one rank, or a part for each, in shared memory. */
#ifndef UNISONO_NODE_REDUCE_H
#define UNISONO_NODE_REDUCE_H

#include "../collectives.h"

/* The root reads everybody's vector beside its flag: at most LINE_ROOM bytes. */
int node_reduce_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction);
/* The root reads everybody's vector, in cells. */
int node_reduce_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction);
/* Each rank combines a slice, the root collects them. `segment`: bytes of a chunk; 0: a cell. */
int node_reduce_slices(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction, int64_t segment);

/* node_reduce lets all ranks combine above so many ranks and bytes, if they have CPUs. */
enum { REDUCE_ROOT_RANKS = 2, REDUCE_ROOT_BYTES = 16384 };

#endif
