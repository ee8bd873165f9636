/* Allgather(v) over several nodes of as many ranks: each rank of a node collects the blocks of its lane, and the node exchanges them. */
#ifndef UNISONO_GROUP_ALLGATHER_LANES_H
#define UNISONO_GROUP_ALLGATHER_LANES_H

#include "group.h"

/* Around a ring in pieces of `segment` bytes, or (`far`) by group_allgather_far(). */
int allgather_through_lanes(struct coll_comm *comm, const struct call *call, int64_t segment, bool far);

#endif
