/* A session may have more threads than MPI_Init was asked for (common/threads.h). Fortran's bindings do not pass here. */
#include "intercept.h"

#include <string.h>

#include "../common/threads.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
/* Where the MPI library does not say it may be any. */
static int level_of(MPI_Session session)
{
    char said[MPI_MAX_INFO_VAL] = "";
    int found = 0;
    MPI_Info info;
    if (PMPI_Session_get_info(session, &info) != MPI_SUCCESS)
        return MPI_THREAD_MULTIPLE;
    PMPI_Info_get(info, "thread_level", sizeof said - 1, said, &found);
    PMPI_Info_free(&info);
    return !found                                       ? MPI_THREAD_MULTIPLE
           : strcmp(said, "MPI_THREAD_SINGLE") == 0     ? MPI_THREAD_SINGLE
           : strcmp(said, "MPI_THREAD_FUNNELED") == 0   ? MPI_THREAD_FUNNELED
           : strcmp(said, "MPI_THREAD_SERIALIZED") == 0 ? MPI_THREAD_SERIALIZED
                                                        : MPI_THREAD_MULTIPLE;
}

SYMBOL int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    const int error = PMPI_Session_init(info, errhandler, session);
    if (error == MPI_SUCCESS)
        threads_session(level_of(*session));
    return error;
}
#endif
