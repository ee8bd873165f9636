/* Ways to combine on one node with a single copy: a rank reads its part of everybody's own memory, piece by piece, combines
 * each piece while it is in its cache, and writes it where it is wanted. Only where node_pulls(). Parts are combined in order
 * of the local numbers. MPI error codes. */
#ifndef UNISONO_NODE_PULL_REDUCE_H
#define UNISONO_NODE_PULL_REDUCE_H

#include "../collectives.h"

/* bytes[i], at[i]: of local number i's block in everybody's `send`, the same on all ranks; `receive` is apart from `send`. */
int node_reduce_scatter_pull(struct coll_comm *comm, const void *send, void *receive, const int64_t *bytes,
                             const int64_t *at, const struct reduction *reduction);
/* `send` may be `receive`, in these two. */
int node_allreduce_pull(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction);
/* `receive`: of the root alone. */
int node_reduce_pull(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction);

#endif
