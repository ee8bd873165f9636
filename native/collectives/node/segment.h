/* Memory that the ranks of one node share: a part of each rank, in memory near it. */
#ifndef UNISONO_NODE_SEGMENT_H
#define UNISONO_NODE_SEGMENT_H

#include "../../common/shared_memory.h"
#include "../collectives.h"

struct segment {
    char *base; /* NULL: none */
    int64_t each, bytes;
    struct failure *failure; /* that has to know of it */
    int64_t taken;           /* of the node's room, by this rank for all of them */
};

/* Collective over the ranks of a node, by messages: `each` bytes of zeros for each, in whole pages. False on all of them
 * when one of them cannot have it, or the node has no room for it (room.h). It has no name, so nothing is left by
 * processes that die (common/shared_memory.h says where it has one, until everybody has it). */
bool segment_create(struct segment *segment, struct coll_comm *comm, int64_t each);

/* The same where ranks cannot wait for each other. Local: by local 0, which tells the others `place` and closes *file when all
 * have taken it; and by each of them. A part must not be looked at before its rank has taken the memory, but for that of
 * local 0. */
bool segment_offer(struct segment *segment, struct coll_comm *comm, int64_t each, struct shared_place *place,
                   int *file);
bool segment_take(struct segment *segment, struct coll_comm *comm, int64_t each, const struct shared_place *place);

void segment_free(struct segment *segment);

/* Whether it is so on all ranks of the node: the same answer on all. By messages of ours, not by a collective of the MPI library,
 * in which the others would wait for a rank that has left. */
bool segment_agree(const struct coll_comm *comm, bool good);

static inline char *segment_of(const struct segment *segment, int local)
{
    return segment->base + local * segment->each;
}

#endif
