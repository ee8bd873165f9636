#include "leave.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "keyspace.h"

bool leave_is_needed(const char *library)
{
    int major, minor;
    const char *device = strstr(library, "MPICH Device:");
    if (sscanf(library, "MPICH Version: %d.%d", &major, &minor) != 2 || device == NULL)
        return false;
    device += strcspn(device, ":") + 1;
    const char *end = device + strcspn(device, "\n"), *ucx = strstr(device, "ch4:ucx");
    return (major < 4 || (major == 4 && minor < 2)) && ucx != NULL && ucx < end;
}

/* Others may still need this rank to take in or to send what is under way. */
static void progress(void)
{
    int found;
    PMPI_Iprobe(MPI_ANY_SOURCE, FABRIC_NEVER_SENT, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void leave_together(bool agreed)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (!agreed)
        return;
    PMPI_Get_library_version(library, &length);
    if (!leave_is_needed(library))
        return;
    /* After the first, all have come, and no message is under way; after the second, none makes progress. */
    if (keyspace_pmi_fence(progress))
        keyspace_pmi_fence(NULL);
}
