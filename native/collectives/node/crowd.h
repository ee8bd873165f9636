/* Whether the ranks of this machine have a CPU each. Those that have not must give theirs away while they wait. */
#ifndef UNISONO_NODE_CROWD_H
#define UNISONO_NODE_CROWD_H

#include <mpi.h>
#include <stdbool.h>

/* Collective over `near`, all ranks of the world on this node: a communicator of few of them may run beside others. MPI
 * error code. */
int crowd_start(MPI_Comm near);
/* The same on all ranks of the node. */
bool crowd(void);

/* Seconds that it costs, in cost models, to wait once more for others in a call: where ranks have no CPU each, the ones
 * awaited must be given theirs. */
static inline double crowd_wait(void)
{
    return crowd() ? 1.5e-6 : 0;
}

#endif
