/* Ways to bring the blocks of all ranks of a node to one of them, and from it to all. Sizes as of node_gather(): `each`
 * bytes for each. */
#ifndef UNISONO_NODE_ROOTED_H
#define UNISONO_NODE_ROOTED_H

#include "../collectives.h"

/* In the cache line of the flag: at most LINE_ROOM bytes each, only where node_shares(). */
int node_gather_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
/* Through the queues of pairs; _inline: at most PAIR_ROOM bytes each, beside the flag, or all in one line of the
 * root's that has room for them. */
int node_gather_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
int node_scatter_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
int node_scatter_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
/* Single copy, by all ranks but the root at once: each writes its block into the root's memory, or reads it there. Only
 * where node_pulls(). */
int node_gather_push(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
int node_scatter_pull(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);

#endif
