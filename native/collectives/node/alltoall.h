/* Ways to exchange everybody's blocks on one node, in shared memory, and the phases made of them. Where there is no
 * shared memory they go by messages. Sizes as of node_alltoallv(); `each` bytes for each. */
#ifndef UNISONO_NODE_ALLTOALL_H
#define UNISONO_NODE_ALLTOALL_H

#include "../collectives.h"

/* Blocks of at least so many bytes are read where they are by node_alltoall_pull(), which is chosen by their size. */
enum { PULL_FROM = 4096 };

/* In the cache lines of the flags: at most PAIR_ROOM bytes each. */
int node_alltoall_inline(struct coll_comm *comm, const void *send, void *receive, int64_t each);
int node_alltoall_cells(struct coll_comm *comm, const void *send, void *receive, int64_t each);
int node_alltoall_pull(struct coll_comm *comm, const void *send, void *receive, int64_t each);

/* node_alltoallv_pull() reads those of exchange_pull_usual() and more. Both _pull only where node_pulls(). */
int node_alltoallv_cells(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                         void *receive, const int64_t *receive_bytes, const int64_t *receive_at);
int node_alltoallv_pull(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                        void *receive, const int64_t *receive_bytes, const int64_t *receive_at);

#endif
