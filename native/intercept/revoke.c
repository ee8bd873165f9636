/* The program says that a communicator is of no use any more (fault tolerance as of Open MPI 5): ranks that wait in a
 * collective on it do so on communicators of ours. Its Fortran bindings do not pass here. */
#include "intercept.h"

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
/* Its address would be wanted when this library is loaded, where Open MPI 4.1 has none: foreign.h is to say so. */
static int revoke(MPI_Comm comm)
{
    return PMPIX_Comm_revoke(comm);
}

SYMBOL int MPIX_Comm_revoke(MPI_Comm comm)
{
    int error = revoke(comm);
    if (error == MPI_SUCCESS && dispatch_active)
        dispatch_revoked(comm, revoke);
    return error;
}
#endif
