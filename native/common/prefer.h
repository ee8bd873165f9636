/* Copies of a communicator whose collectives are a component's of our choice. Open MPI only. */
#ifndef UNISONO_PREFER_H
#define UNISONO_PREFER_H

#include <mpi.h>
#include <stdbool.h>

#include "problem.h"

/* Major, minor, release as one number (50011 for 5.0.11); 0: another MPI. */
int prefer_openmpi_version(void);

/* Open MPI passes the preference on from 5.0.4; older ones lose it in silence. */
bool prefer_possible(struct problem *problem);

/* A copy with everything that MPI_Comm_dup copies. `component` as Open MPI's ompi_comm_coll_preference has it; NULL: a plain
 * copy. MPI error codes. */
int prefer_dup(MPI_Comm comm, const char *component, MPI_Comm *copy);

#endif
