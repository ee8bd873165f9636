/* The ranks of a communicator as a grid of three dimensions, for collectives of neighbours. */
#ifndef UNISONO_GRID_H
#define UNISONO_GRID_H

#include <mpi.h>
#include <stdbool.h>

enum { GRID_NEIGHBOURS = 6 };

bool grid_is_for(const char *collective);

/* Collective the first time: kept with the communicator, and freed with it. MPI's own balanced grid, without wrap-around. */
MPI_Comm grid_of(MPI_Comm comm);

/* Local: the neighbours of a rank of such a grid, as MPI orders them; below 0: nobody. */
void grid_neighbours(int rank, int ranks, int around[GRID_NEIGHBOURS]);

#endif
