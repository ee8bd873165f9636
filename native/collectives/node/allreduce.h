/* Ways to combine on one node for all, in shared memory. */
#ifndef UNISONO_NODE_ALLREDUCE_H
#define UNISONO_NODE_ALLREDUCE_H

#include "../collectives.h"

/* Everybody reads everybody's vector, in the cache line of the flag: at most LINE_ROOM bytes. */
int node_allreduce_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction);
/* Everybody reads everybody's vector, in cells. */
int node_allreduce_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction);
/* In chunks through cells; of each chunk a rank combines one slice for all. `segment`: bytes of a chunk, at most a cell;
 * 0 or CELL_PIECE: what is usual, more where ranks share CPUs. */
int node_allreduce_slices(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction, int64_t segment);
/* In two levels: of each group of about sqrt(ranks) one rank combines what they post, everybody what those post. At most
 * a cell. */
int node_allreduce_groups(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                          const struct reduction *reduction);

/* From where on node_allreduce prefers another way: two levels above so many ranks and up to so many bytes; slices above
 * so many bytes of all ranks together, more when each wait costs a change of processes. */
enum {
    ALLREDUCE_FLAT_RANKS = 24,
    ALLREDUCE_GROUPS_BYTES = 2048,
    ALLREDUCE_FLAT_BYTES = 24576,
    ALLREDUCE_CROWDED_BYTES = 131072
};

#endif
