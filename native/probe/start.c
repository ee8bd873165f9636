#include <string.h>

#include "call.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

static const MPI_Info none = MPI_INFO_NULL;

static int make(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm, MPI_Request *request)
{
    char *out = b->out, *in = b->in;
    if (strcmp(collective, "allreduce_init") == 0)
        return MPI_Allreduce_init(out, in, bytes, MPI_BYTE, MPI_BOR, comm, none, request);
    if (strcmp(collective, "reduce_init") == 0)
        return MPI_Reduce_init(out, in, bytes, MPI_BYTE, MPI_BOR, 0, comm, none, request);
    if (strcmp(collective, "scan_init") == 0)
        return MPI_Scan_init(out, in, bytes, MPI_BYTE, MPI_BOR, comm, none, request);
    if (strcmp(collective, "exscan_init") == 0)
        return MPI_Exscan_init(out, in, bytes, MPI_BYTE, MPI_BOR, comm, none, request);
    if (strcmp(collective, "bcast_init") == 0)
        return MPI_Bcast_init(out, bytes, MPI_BYTE, 0, comm, none, request);
    if (strcmp(collective, "allgather_init") == 0)
        return MPI_Allgather_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, none, request);
    if (strcmp(collective, "alltoall_init") == 0)
        return MPI_Alltoall_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, none, request);
    if (strcmp(collective, "gather_init") == 0)
        return MPI_Gather_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, none, request);
    if (strcmp(collective, "scatter_init") == 0)
        return MPI_Scatter_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, none, request);
    if (strcmp(collective, "reduce_scatter_block_init") == 0)
        return MPI_Reduce_scatter_block_init(out, in, bytes, MPI_BYTE, MPI_BOR, comm, none, request);
    if (strcmp(collective, "reduce_scatter_init") == 0)
        return MPI_Reduce_scatter_init(out, in, divided(bytes, b, comm), MPI_BYTE, MPI_BOR, comm, none, request);
    if (strcmp(collective, "barrier_init") == 0)
        return MPI_Barrier_init(comm, none, request);
    const int *counts = b->counts, *offsets = b->offsets;
    if (strcmp(collective, "allgatherv_init") == 0)
        return MPI_Allgatherv_init(out, bytes, MPI_BYTE, in, counts, offsets, MPI_BYTE, comm, none, request);
    if (strcmp(collective, "alltoallv_init") == 0)
        return MPI_Alltoallv_init(out, counts, offsets, MPI_BYTE, in, counts, offsets, MPI_BYTE, comm, none, request);
    if (strcmp(collective, "alltoallw_init") == 0)
        return MPI_Alltoallw_init(out, counts, offsets, b->types, in, counts, offsets, b->types, comm, none, request);
    if (strcmp(collective, "gatherv_init") == 0)
        return MPI_Gatherv_init(out, bytes, MPI_BYTE, in, counts, offsets, MPI_BYTE, 0, comm, none, request);
    if (strcmp(collective, "scatterv_init") == 0)
        return MPI_Scatterv_init(out, counts, offsets, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, none, request);
    return UNKNOWN;
}

static int make_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line, MPI_Request *request)
{
    char *out = b->out, *in = b->in;
    const int *counts = b->counts, *offsets = b->offsets;
    if (strcmp(how, "allgather_init") == 0)
        return MPI_Neighbor_allgather_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, line, none, request);
    if (strcmp(how, "allgatherv_init") == 0)
        return MPI_Neighbor_allgatherv_init(out, bytes, MPI_BYTE, in, counts, offsets, MPI_BYTE, line, none, request);
    if (strcmp(how, "alltoall_init") == 0)
        return MPI_Neighbor_alltoall_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, line, none, request);
    if (strcmp(how, "alltoallv_init") == 0)
        return MPI_Neighbor_alltoallv_init(out, counts, offsets, MPI_BYTE, in, counts, offsets, MPI_BYTE, line, none,
                                           request);
    if (strcmp(how, "alltoallw_init") == 0)
        return MPI_Neighbor_alltoallw_init(out, counts, b->far, b->types, in, counts, b->far, b->types, line, none,
                                           request);
    return UNKNOWN;
}

static int once(int made, MPI_Request *request)
{
    if (made != MPI_SUCCESS)
        return made;
    int error = MPI_Start(request);
    if (error == MPI_SUCCESS)
        error = MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return error;
}

int start(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    return once(make(collective, bytes, b, comm, &request), &request);
}

int start_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line)
{
    MPI_Request request = MPI_REQUEST_NULL;
    return once(make_near(how, bytes, b, line, &request), &request);
}

#else

int start(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm)
{
    (void)collective, (void)bytes, (void)b, (void)comm;
    return UNKNOWN;
}

int start_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line)
{
    return start(how, bytes, b, line);
}

#endif
