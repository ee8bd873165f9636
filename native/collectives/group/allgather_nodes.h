/* Allgather(v) over several nodes through one rank of each: what the ways between nodes have in common. */
#ifndef UNISONO_GROUP_ALLGATHER_NODES_H
#define UNISONO_GROUP_ALLGATHER_NODES_H

#include "group.h"

/* All blocks node by node, each node's in order of its ranks. `all` is the receive buffer itself where that is their
   place, else scratch memory. */
struct by_node {
    struct coll_comm *comm;
    char *all;
    int64_t *rank_bytes, *rank_at; /* by place in topology.members: where in `all` */
    int64_t *node_bytes, *node_at; /* by the number of a node's rank in group_near() */
};

/* Everybody; collects the own node's blocks into the first rank's `all`. To be ended by by_node_end whatever it says. */
int by_node_start(struct by_node *by_node, struct coll_comm *comm, const struct call *call);
/* The own node's blocks and places, for phases of the node. */
static inline struct blocks by_node_own(const struct by_node *by_node)
{
    int first = by_node->comm->topology.first[by_node->comm->topology.node];
    return (struct blocks){.bytes = by_node->rank_bytes + first, .at = by_node->rank_at + first};
}
/* Everything has come: to its place, and the memory away. */
void by_node_end(struct by_node *by_node, const struct call *call, bool good);

/* One of the allgathers of group.h: this member's block from `own`, all of them to `all`. */
typedef int leaders_allgather(const struct group *group, const void *own, void *all, const struct blocks *blocks);
/* The whole of it: collected on each node, exchanged among the nodes' first ranks, handed out on each node. MPI error code. */
int by_node_run(struct coll_comm *comm, const struct call *call, leaders_allgather *exchange);

#endif
