/* Reduce_scatter(_block) over several nodes, around any reduce_scatter of a group: through one rank of each node. */
#ifndef UNISONO_GROUP_REDUCE_SCATTER_LEADERS_H
#define UNISONO_GROUP_REDUCE_SCATTER_LEADERS_H

#include "reduce_scatter_nodes.h"

int reduce_scatter_through_leaders(struct coll_comm *comm, const struct call *call, group_scattered_sum *between);

#endif
