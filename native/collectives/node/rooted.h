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
/* Blocks of several lengths: bytes[i], at[i] of local number i, which the root alone has to know; `own` of this rank's block,
 * 0 where the root's is in place. `pulls`, only where node_pulls(): long blocks are read where they are. */
int node_gatherv(struct coll_comm *comm, int root, const void *send, int64_t own, void *receive, const int64_t *bytes,
                 const int64_t *at, bool pulls);
int node_scatterv(struct coll_comm *comm, int root, const void *send, const int64_t *bytes, const int64_t *at,
                  void *receive, int64_t own, bool pulls);
/* Single copy, by all ranks but the root at once: each writes its block into the root's memory, or reads it there. Only
 * where node_pulls(). */
int node_gather_push(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);
int node_scatter_pull(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each);

#endif
