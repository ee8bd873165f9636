/* Reduce_scatter(_block) over several nodes, around any reduce_scatter of a group: each rank of a node has combined there what
 * is for its lane. */
#ifndef UNISONO_GROUP_REDUCE_SCATTER_NODES_H
#define UNISONO_GROUP_REDUCE_SCATTER_NODES_H

#include "group.h"

typedef int group_scattered_sum(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                                const struct reduction *reduction);

/* All nodes have as many ranks. */
int reduce_scatter_through_lanes(struct coll_comm *comm, const struct call *call, group_scattered_sum *between);

#endif
