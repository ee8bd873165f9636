/* Whether something is so on all ranks of a machine. */
#ifndef UNISONO_NODE_AGREED_H
#define UNISONO_NODE_AGREED_H

#include <mpi.h>
#include <stdbool.h>

/* Collective over `near`, all ranks of the world on this machine. */
static inline bool agreed(MPI_Comm near, bool mine)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, near) == MPI_SUCCESS && all;
}

#endif
