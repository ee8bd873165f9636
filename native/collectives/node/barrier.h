/* Barriers of one node, in shared memory. */
#ifndef UNISONO_NODE_BARRIER_H
#define UNISONO_NODE_BARRIER_H

#include "../collectives.h"

/* Everybody reads everybody's flag. */
int node_barrier_flags(struct coll_comm *comm);

#endif
