/* Whether the ranks of this machine have a CPU each. Those that have not must give theirs away while they wait. */
#ifndef UNISONO_NODE_CROWD_H
#define UNISONO_NODE_CROWD_H

#include <mpi.h>
#include <stdbool.h>

/* Collective over `near`, all ranks of the world on this node: a communicator of few of them may run beside others. MPI
 * error code. */
int crowd_start(MPI_Comm near);
/* The same on all ranks of the node; of all nodes of a communicator: coll_comm.crowded. */
bool crowd(void);

/* Whether the choice of an algorithm reckons with who else runs as ranks start, which is another matter in the next run; else only with
 * the CPUs that ranks may use. Ranks that wait reckon with it in any case. */
void crowd_heed_others(bool heed);
/* What the choice reckons with. */
bool crowd_counts(void);

#endif
