/* An MPI library that cannot make a communicator by MPI_Comm_split, as one without context numbers left. */
#include <mpi.h>

int PMPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *made)
{
    (void)colour, (void)key;
    *made = MPI_COMM_NULL;
    PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
    return MPI_ERR_INTERN;
}
