/* Ways to gather everybody's block for all on one node, in shared memory. Sizes as of node_allgather(). */
#ifndef UNISONO_NODE_ALLGATHER_H
#define UNISONO_NODE_ALLGATHER_H

#include "../collectives.h"

/* In the cache line of the flag: at most LINE_ROOM bytes each. */
int node_allgather_inline(struct coll_comm *comm, const void *send, void *receive, int64_t each);
/* Through cells, which all others read; blocks of at most LINE_ROOM bytes beside their flags. */
int node_allgather_cells(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                         const int64_t *at);
/* Everybody reads the others' blocks where they are: only where node_pulls(). */
int node_allgather_pull(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                        const int64_t *at);

#endif
