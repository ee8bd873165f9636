/* How long ranks of a node take to hear of one another, by how near they are: measured where each has a CPU of its own. */
#ifndef UNISONO_NODE_MEET_H
#define UNISONO_NODE_MEET_H

#include "../collectives.h"

/* Whether what calls do may depend on it: not where results have to be the same from run to run. The same on all ranks. */
void meet_heed_measured(bool heed);

/* Collective over the node, whose ranks lie in it so. On its first rank meet[depth], by the depths of the whole node, is what that rank and
 * one that it meets there take (where it meets nobody, what they take who are less deep), and *more what each further rank adds, above
 * 0; of depths at which none of these ranks meet nothing is said. False, on all ranks: it is not measured, as ranks share CPUs, or there are
 * no more than two. */
bool meet_measure(struct coll_comm *comm, const struct levels *levels, double *meet, double *more);

#endif
