/* Ways to combine on one node for one rank, or a part for each, in shared memory. */
#ifndef UNISONO_NODE_REDUCE_H
#define UNISONO_NODE_REDUCE_H

#include "../collectives.h"

/* The root reads everybody's vector, in cells. */
int node_reduce_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                 const struct reduction *reduction);

#endif
