/* The node transport: the ranks of one node among themselves, numbered as topology.local.
 *
 * In shared memory where the node lets us have it, else (and under a simulator) by messages. These phases are the
 * collectives of one node, and what algorithms over several nodes are made of. Every rank of the node calls the same
 * phases in the same order. Each chooses its way by size, from values that are the same on all ranks of the node;
 * algorithms for one node ask for one way by name (node/bcast.h ...).
 *
 * MPI error codes. Sizes are bytes, `root` is a local number. */
#ifndef UNISONO_NODE_H
#define UNISONO_NODE_H

#include "../collectives.h"

struct peers;

/* Local: the lines are there (peers.h). */
void node_create(struct coll_comm *comm, struct peers *peers, int slot);
/* Local: without lines, cells and queues. */
void node_alone(struct coll_comm *comm);
void node_free(struct coll_comm *comm);

/* Whether there is shared memory, and whether ranks may read one another's memory (process_vm_readv). */
bool node_shares(const struct node *node);
/* Also that cells, and the queues of pairs, were not refused when they were needed: room had ended. */
bool node_has_cells(const struct node *node);
bool node_has_queues(const struct node *node);
bool node_pulls(const struct node *node);

int node_barrier(struct coll_comm *comm);
int node_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes);
/* `receive` on the root alone; may be equal to its `send`. Elements are combined in order of the local numbers. */
int node_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                const struct reduction *reduction);
int node_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction);
/* Local number i gets elements [counts_at[i], counts_at[i + 1]) of the combined vector. */
int node_reduce_scatter(struct coll_comm *comm, const void *send, void *receive, const int64_t *counts_at,
                        const struct reduction *reduction);
/* bytes[i], at[i]: of local number i, in what the root has; the same on all ranks of the node. `send`/`receive` of the
 * root may be in place. NULL for bytes: `each` for all, one after the other. */
int node_gather(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each, const int64_t *bytes,
                const int64_t *at);
int node_scatter(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each, const int64_t *bytes,
                 const int64_t *at);
int node_allgather(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                   const int64_t *at);
/* Everybody to everybody; all four are a rank's own, by local number. */
int node_alltoallv(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                   void *receive, const int64_t *receive_bytes, const int64_t *receive_at);

#endif
