/* Alltoall(v) in which each rank of a node has some other nodes as its business: it collects what its node has for one,
 * sends that once, and hands out what comes. */
#ifndef UNISONO_GROUP_ALLTOALL_NODES_H
#define UNISONO_GROUP_ALLTOALL_NODES_H

#include "exchange_counts.h"

/* Including the node's own blocks. `counts` are the call's, of all ranks of the node. */
int alltoall_by_nodes(struct coll_comm *comm, const struct call *call, const struct counts *counts);

#endif
