#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buffers buffers_of(const char *collective, int bytes, int ranks)
{
    const size_t all = (size_t)bytes * (size_t)ranks + 1, blocks = (size_t)ranks;
    struct buffers made = {.out = calloc(all, 1),
                           .in = calloc(all, 1),
                           .counts = calloc(blocks, sizeof *made.counts),
                           .offsets = calloc(blocks, sizeof *made.offsets),
                           .far = calloc(blocks, sizeof *made.far),
                           .types = calloc(blocks, sizeof(MPI_Datatype))};
    if (made.out == NULL || made.in == NULL || made.counts == NULL || made.offsets == NULL || made.far == NULL ||
        made.types == NULL) {
        fprintf(stderr, "unisono-probe: no memory for %s of %d bytes\n", collective, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        made.counts[rank] = bytes;
        made.far[rank] = made.offsets[rank] = rank * bytes;
        made.types[rank] = MPI_BYTE;
    }
    return made;
}

static void buffers_free(const struct buffers *made)
{
    free(made->out);
    free(made->in);
    free(made->counts);
    free(made->offsets);
    free(made->far);
    free(made->types);
}

/* Those that block; MPI error codes. */
static int block(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm)
{
    char *out = b->out, *in = b->in;
    if (strcmp(collective, "allreduce") == 0)
        return MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
    if (strcmp(collective, "reduce") == 0)
        return MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, 0, comm);
    if (strcmp(collective, "scan") == 0)
        return MPI_Scan(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
    if (strcmp(collective, "exscan") == 0)
        return MPI_Exscan(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
    if (strcmp(collective, "bcast") == 0)
        return MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
    if (strcmp(collective, "allgather") == 0)
        return MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    if (strcmp(collective, "allgatherv") == 0)
        return MPI_Allgatherv(out, bytes, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, comm);
    if (strcmp(collective, "alltoall") == 0)
        return MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    if (strcmp(collective, "alltoallv") == 0)
        return MPI_Alltoallv(out, b->counts, b->offsets, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, comm);
    if (strcmp(collective, "alltoallw") == 0)
        return MPI_Alltoallw(out, b->counts, b->offsets, b->types, in, b->counts, b->offsets, b->types, comm);
    if (strcmp(collective, "gather") == 0)
        return MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
    if (strcmp(collective, "gatherv") == 0)
        return MPI_Gatherv(out, bytes, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, 0, comm);
    if (strcmp(collective, "scatter") == 0)
        return MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
    if (strcmp(collective, "scatterv") == 0)
        return MPI_Scatterv(out, b->counts, b->offsets, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
    if (strcmp(collective, "reduce_scatter_block") == 0)
        return MPI_Reduce_scatter_block(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
    if (strcmp(collective, "barrier") == 0)
        return MPI_Barrier(comm);
    return UNKNOWN;
}

const int *divided(int bytes, const struct buffers *b, MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    for (int rank = 0; rank < ranks; ++rank)
        b->counts[rank] = bytes / ranks + (rank < bytes % ranks);
    return b->counts;
}

/* Those that do not; the request is waited for. */
static int begin(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm, MPI_Request *request)
{
    char *out = b->out, *in = b->in;
    if (strcmp(collective, "iallreduce") == 0)
        return MPI_Iallreduce(out, in, bytes, MPI_BYTE, MPI_BOR, comm, request);
    if (strcmp(collective, "ireduce") == 0)
        return MPI_Ireduce(out, in, bytes, MPI_BYTE, MPI_BOR, 0, comm, request);
    if (strcmp(collective, "iscan") == 0)
        return MPI_Iscan(out, in, bytes, MPI_BYTE, MPI_BOR, comm, request);
    if (strcmp(collective, "iexscan") == 0)
        return MPI_Iexscan(out, in, bytes, MPI_BYTE, MPI_BOR, comm, request);
    if (strcmp(collective, "ibcast") == 0)
        return MPI_Ibcast(out, bytes, MPI_BYTE, 0, comm, request);
    if (strcmp(collective, "iallgather") == 0)
        return MPI_Iallgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, request);
    if (strcmp(collective, "ialltoall") == 0)
        return MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, request);
    if (strcmp(collective, "igather") == 0)
        return MPI_Igather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, request);
    if (strcmp(collective, "iscatter") == 0)
        return MPI_Iscatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, request);
    if (strcmp(collective, "ireduce_scatter_block") == 0)
        return MPI_Ireduce_scatter_block(out, in, bytes, MPI_BYTE, MPI_BOR, comm, request);
    if (strcmp(collective, "iallgatherv") == 0)
        return MPI_Iallgatherv(out, bytes, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, comm, request);
    if (strcmp(collective, "ialltoallv") == 0)
        return MPI_Ialltoallv(out, b->counts, b->offsets, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, comm, request);
    if (strcmp(collective, "ialltoallw") == 0)
        return MPI_Ialltoallw(out, b->counts, b->offsets, b->types, in, b->counts, b->offsets, b->types, comm, request);
    if (strcmp(collective, "igatherv") == 0)
        return MPI_Igatherv(out, bytes, MPI_BYTE, in, b->counts, b->offsets, MPI_BYTE, 0, comm, request);
    if (strcmp(collective, "iscatterv") == 0)
        return MPI_Iscatterv(out, b->counts, b->offsets, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm, request);
    if (strcmp(collective, "ireduce_scatter") == 0)
        return MPI_Ireduce_scatter(out, in, divided(bytes, b, comm), MPI_BYTE, MPI_BOR, comm, request);
    if (strcmp(collective, "ibarrier") == 0)
        return MPI_Ibarrier(comm, request);
    return UNKNOWN;
}

/* With the rank before and the rank behind, on a line. Those that block: */
static int block_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line)
{
    if (strcmp(how, "allgather") == 0)
        return MPI_Neighbor_allgather(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, line);
    if (strcmp(how, "allgatherv") == 0)
        return MPI_Neighbor_allgatherv(b->out, bytes, MPI_BYTE, b->in, b->counts, b->offsets, MPI_BYTE, line);
    if (strcmp(how, "alltoall") == 0)
        return MPI_Neighbor_alltoall(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, line);
    if (strcmp(how, "alltoallv") == 0)
        return MPI_Neighbor_alltoallv(b->out, b->counts, b->offsets, MPI_BYTE, b->in, b->counts, b->offsets, MPI_BYTE,
                                      line);
    if (strcmp(how, "alltoallw") == 0)
        return MPI_Neighbor_alltoallw(b->out, b->counts, b->far, b->types, b->in, b->counts, b->far, b->types, line);
    return UNKNOWN;
}

static int begin_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line, MPI_Request *request)
{
    if (strcmp(how, "allgather") == 0)
        return MPI_Ineighbor_allgather(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, line, request);
    if (strcmp(how, "allgatherv") == 0)
        return MPI_Ineighbor_allgatherv(b->out, bytes, MPI_BYTE, b->in, b->counts, b->offsets, MPI_BYTE, line, request);
    if (strcmp(how, "alltoall") == 0)
        return MPI_Ineighbor_alltoall(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, line, request);
    if (strcmp(how, "alltoallv") == 0)
        return MPI_Ineighbor_alltoallv(b->out, b->counts, b->offsets, MPI_BYTE, b->in, b->counts, b->offsets, MPI_BYTE,
                                       line, request);
    if (strcmp(how, "alltoallw") == 0)
        return MPI_Ineighbor_alltoallw(b->out, b->counts, b->far, b->types, b->in, b->counts, b->far, b->types, line,
                                       request);
    return UNKNOWN;
}

static int end(int begun, MPI_Request *request)
{
    const int waited = MPI_Wait(request, MPI_STATUS_IGNORE);
    return begun == MPI_SUCCESS ? waited : begun;
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT };

static enum form form_of(const char *collective)
{
    static const char init[] = "_init";
    const size_t length = strlen(collective);
    if (length > strlen(init) && strcmp(collective + length - strlen(init), init) == 0)
        return PERSISTENT;
    return collective[0] == 'i' ? NONBLOCKING : BLOCKING;
}

static int to_neighbours(const char *how, enum form form, int bytes, const struct buffers *b, MPI_Comm comm)
{
    int ranks, error;
    MPI_Comm line;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_size(comm, &ranks);
    MPI_Cart_create(comm, 1, &ranks, (int[]){0}, 0, &line);
    MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    if (form == PERSISTENT)
        error = start_near(how, bytes, b, line);
    else if (form == NONBLOCKING)
        error = end(begin_near(how, bytes, b, line, &request), &request);
    else
        error = block_near(how, bytes, b, line);
    MPI_Comm_free(&line);
    return error;
}

int call_once(const char *collective, int bytes, MPI_Comm comm)
{
    static const char near[] = "neighbor_";
    int ranks;
    MPI_Comm_size(comm, &ranks);
    const struct buffers made = buffers_of(collective, bytes, ranks > 1 ? ranks : 2); /* on a line two neighbours */
    int error = block(collective, bytes, &made, comm);
    if (error == UNKNOWN && strcmp(collective, "reduce_scatter") == 0)
        error = MPI_Reduce_scatter(made.out, made.in, divided(bytes, &made, comm), MPI_BYTE, MPI_BOR, comm);
    const enum form form = form_of(collective);
    const char *name = collective + (form == NONBLOCKING);
    if (error == UNKNOWN && strncmp(name, near, strlen(near)) == 0)
        error = to_neighbours(name + strlen(near), form, bytes, &made, comm);
    else if (error == UNKNOWN && form == PERSISTENT)
        error = start(collective, bytes, &made, comm);
    if (error == UNKNOWN && form == NONBLOCKING) {
        MPI_Request request = MPI_REQUEST_NULL;
        error = end(begin(collective, bytes, &made, comm, &request), &request);
    }
    buffers_free(&made);
    return error;
}
