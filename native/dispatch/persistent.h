/* Persistent collectives that dispatch.h serves, as kept by this rank. */
#ifndef UNISONO_PERSISTENT_H
#define UNISONO_PERSISTENT_H

#include <mpi.h>

/* The communicator ends: what is started later is the MPI library's. */
void persistent_end(MPI_Comm comm);
/* At MPI_Finalize. */
void persistent_finish(void);

#endif
