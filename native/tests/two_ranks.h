/* A stand-in for an MPI library: this is the first of two ranks. */
#ifndef UNISONO_TESTS_TWO_RANKS_H
#define UNISONO_TESTS_TWO_RANKS_H

#include <mpi.h>

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 2;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

#endif
