/* Allreduce over several nodes, around any allreduce of a group: through one rank of each node, or each rank of a node
 * with its part of the vector. */
#ifndef UNISONO_GROUP_ALLREDUCE_NODES_H
#define UNISONO_GROUP_ALLREDUCE_NODES_H

#include "group.h"

typedef int group_allreduce(const struct group *group, const void *send, void *receive, int64_t count,
                            const struct reduction *reduction);

int allreduce_through_leaders(struct coll_comm *comm, const struct call *call, group_allreduce *between);
int allreduce_through_lanes(struct coll_comm *comm, const struct call *call, group_allreduce *between);

/* What the part between nodes costs, of so many bytes a node: seconds. */
double cost_doubling(const struct coll_comm *comm, int members, double bytes);
double cost_halving(const struct coll_comm *comm, int members, double bytes);
double cost_dividing(const struct coll_comm *comm, int members, double bytes);
double cost_bine(const struct coll_comm *comm, int members, double bytes);
double cost_pat(const struct coll_comm *comm, int members, double bytes);
double cost_ring(const struct coll_comm *comm, int members, double bytes);

/* What the phases on the node cost. */
double cost_leaders(const struct coll_comm *comm, double bytes);
double cost_lanes(const struct coll_comm *comm, double bytes);

#endif
