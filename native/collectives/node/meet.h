/* How long ranks of a node take to hear of one another, by how near they are: measured where each has a CPU of its own. */
#ifndef UNISONO_NODE_MEET_H
#define UNISONO_NODE_MEET_H

#include "../collectives.h"

/* Whether what calls do may depend on it: not where results have to be the same from run to run. The same on all ranks. */
void meet_heed_measured(bool heed);

/* Collective over the node. mates[depth]: who meets its first rank there, by local number; -1: nobody. On the first rank
 * seconds[depth] is what the two take (of a depth at which nobody is, what those take who are less deep), and *more what each further rank
 * adds, above 0. False, on all ranks: it is not measured, as ranks share CPUs, or there are no more than two. */
bool meet_measure(struct coll_comm *comm, const int *mates, int depths, double *seconds, double *more);

#endif
