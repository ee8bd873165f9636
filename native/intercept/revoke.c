/* The program says that a communicator is of no use any more (fault tolerance as of Open MPI 5): ranks that wait in a
 * collective on it do so on communicators of ours. Its Fortran bindings do not pass here. */
#include "intercept.h"

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
SYMBOL int MPIX_Comm_revoke(MPI_Comm comm)
{
    int error = PMPIX_Comm_revoke(comm);
    if (error == MPI_SUCCESS && dispatch_active)
        dispatch_revoked(comm, PMPIX_Comm_revoke);
    return error;
}
#endif
