/* Prefix reductions among the ranks of a node, in order of the local numbers: everybody gets the elements of all up to its
 * own, or (`exclusive`) of all below it; local number 0 gets nothing then, and its `receive` is not looked at. `receive` may
 * be `send`. */
#ifndef UNISONO_NODE_SCAN_H
#define UNISONO_NODE_SCAN_H

#include "../collectives.h"

/* In the cache line of the flag: at most LINE_ROOM bytes, only where node_shares(). */
int node_scan_inline(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                     const struct reduction *reduction, bool exclusive);
/* Everybody reads the cells of those below it. Where cells were refused, by messages. */
int node_scan_cells(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction, bool exclusive);
/* By size one of the two, or by messages where nothing is shared. */
int node_scan(struct coll_comm *comm, const void *send, void *receive, int64_t count, const struct reduction *reduction,
              bool exclusive);

#endif
