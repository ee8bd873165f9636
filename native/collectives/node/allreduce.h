/* Ways to combine on one node for all, in shared memory. */
#ifndef UNISONO_NODE_ALLREDUCE_H
#define UNISONO_NODE_ALLREDUCE_H

#include "../collectives.h"

/* Everybody reads everybody's vector, in the cache line of the flag: at most LINE_ROOM bytes. */
int node_allreduce_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction);
/* Everybody reads everybody's vector, in cells. */
int node_allreduce_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction);
/* In chunks through cells; of each chunk a rank combines one slice for all. `segment`: bytes of a chunk, at most a cell;
 * 0: a cell. */
int node_allreduce_slices(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction, int64_t segment);

#endif
