#include "aside.h"

#include "dispatch.h"

void aside_step(MPI_Comm comm, struct aside *aside)
{
    aside->before = dispatch_aside(true);
    if (PMPI_Comm_get_errhandler(comm, &aside->theirs) != MPI_SUCCESS)
        aside->theirs = MPI_ERRHANDLER_NULL;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

void aside_back(MPI_Comm comm, struct aside *aside)
{
    if (aside->theirs != MPI_ERRHANDLER_NULL) {
        PMPI_Comm_set_errhandler(comm, aside->theirs);
        PMPI_Errhandler_free(&aside->theirs);
    }
    dispatch_aside(aside->before);
}
