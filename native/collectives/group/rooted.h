/* What gather and scatter over several nodes have in common: where blocks lie while they travel from node to node. */
#ifndef UNISONO_GROUP_ROOTED_H
#define UNISONO_GROUP_ROOTED_H

#include "nodes.h"
#include "scratch.h"

bool rooted_applies(const struct coll_comm *comm, const struct shape *shape);
double rooted_tree_cost(const struct coll_comm *comm, const struct shape *shape);
double rooted_direct_cost(const struct coll_comm *comm, const struct shape *shape);

/* Nodes are counted from the root's on. */
static inline int rooted_place(const struct topology *topology, int root_node, int node)
{
    return (node - root_node + topology->nodes) % topology->nodes;
}

/* Where the blocks of the node at each place begin, and where all end; `each` bytes a rank. NULL: no memory. To be given
   to free(). */
int64_t *rooted_starts(const struct topology *topology, int root_node, int64_t each);

/* Between the order of ranks and that of places: into the first or out of it. */
void rooted_sort(const struct topology *topology, int root_node, int64_t each, char *by_rank, char *by_place,
                 bool into_ranks);

/* The same where every rank is a node. */
void rooted_turn(const struct coll_comm *comm, int root, int64_t each, char *by_rank, char *by_place, bool into_ranks);

/* The root's messages with the ranks of other nodes, a few of which are under way at a time, and where the blocks of its
   own node are. */
enum { ROOTED_MESSAGES = 64 };
struct rooted_others {
    int64_t *bytes, *at; /* by local number; one allocation */
    int next, started;   /* the next rank, and how many are under way */
    MPI_Request request[ROOTED_MESSAGES];
};

/* What the root has of, or for, a rank. */
static inline int64_t rooted_bytes(const struct call *call, int rank)
{
    return call->collective == COLL_GATHERV    ? call->receive_bytes[rank]
           : call->collective == COLL_SCATTERV ? call->send_bytes[rank]
                                               : call->bytes;
}

static inline int64_t rooted_at(const struct call *call, int rank)
{
    return call->collective == COLL_GATHERV    ? call->receive_at[rank]
           : call->collective == COLL_SCATTERV ? call->send_at[rank]
                                               : rank * call->bytes;
}

/* On all ranks of the root's node; messages are the root's alone. MPI error codes. */
int rooted_start(struct rooted_others *others, struct coll_comm *comm, const struct call *call);
/* The rest of them; `error` is what happened before. */
int rooted_end(struct rooted_others *others, struct coll_comm *comm, const struct call *call, int error);

#endif
