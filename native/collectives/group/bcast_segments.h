/* Segment by segment along a chain or tree of one rank of each node, each of which hands what has come to its node while
 * the next segments are on their way. */
#ifndef UNISONO_GROUP_BCAST_SEGMENTS_H
#define UNISONO_GROUP_BCAST_SEGMENTS_H

#include "../collectives.h"

int bcast_segments(struct coll_comm *comm, const struct call *call, int64_t segment, int children);

#endif
