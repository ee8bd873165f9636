/* The phases of node.h by messages: where there is no shared memory, and under a simulator. */
#ifndef UNISONO_NODE_MESSAGES_H
#define UNISONO_NODE_MESSAGES_H

#include "../collectives.h"

int messages_barrier(struct coll_comm *comm);
int messages_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes);
int messages_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction);
int messages_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction);
int messages_reduce_scatter(struct coll_comm *comm, const void *send, void *receive, const int64_t *counts_at,
                            const struct reduction *reduction);
int messages_gather(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each,
                    const int64_t *bytes, const int64_t *at);
int messages_scatter(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each,
                     const int64_t *bytes, const int64_t *at);
int messages_allgather(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                       const int64_t *at);
int messages_alltoallv(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                       void *receive, const int64_t *receive_bytes, const int64_t *receive_at);

#endif
