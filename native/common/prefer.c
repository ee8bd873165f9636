#include "prefer.h"

#include <stdio.h>

int prefer_openmpi_version(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor, release;
    PMPI_Get_library_version(version, &length);
    if (sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &release) != 3)
        return 0;
    return major * 10000 + minor * 100 + release;
}

bool prefer_possible(struct problem *problem)
{
    int version = prefer_openmpi_version();
    if (version == 0)
        return problem_set(problem, "prefer: only Open MPI can prefer a component per communicator");
    if (version < 50004)
        return problem_set(problem, "prefer: needs Open MPI 5.0.4 or later, this is %d.%d.%d", version / 10000,
                           version / 100 % 100, version % 100);
    return true;
}

int prefer_dup(MPI_Comm comm, const char *component, MPI_Comm *copy)
{
    if (component == NULL)
        return PMPI_Comm_dup(comm, copy);
    MPI_Info info;
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "ompi_comm_coll_preference", component);
    int error = PMPI_Comm_dup_with_info(comm, info, copy);
    PMPI_Info_free(&info);
    return error;
}
