/* Nonblocking collectives: the call and the wait for it, one after the other. Data, and what must come of it, are those of the
 * collective that blocks. */
#include "../grid.h"
#include "all.h"
#include "reduce_common.h"

static MPI_Request request;

static void finish(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define NONBLOCKING(name, blocking, ...)                                                                               \
    static bool prepare_##name(struct operation *operation, struct problem *problem)                                   \
    {                                                                                                                  \
        return (blocking).prepare(operation, problem);                                                                 \
    }                                                                                                                  \
    static void run_##name(const struct operation *operation, MPI_Comm comm, void *send, void *receive)                \
    {                                                                                                                  \
        (void)operation, (void)send, (void)receive;                                                                    \
        __VA_ARGS__;                                                                                                   \
        finish();                                                                                                      \
    }                                                                                                                  \
    static void fill_##name(const struct operation *operation, void *send, uint64_t repetition)                        \
    {                                                                                                                  \
        (blocking).fill(operation, send, repetition);                                                                  \
    }                                                                                                                  \
    static bool verify_##name(const struct operation *operation, const void *send, const void *receive,                \
                              uint64_t repetition, struct problem *problem)                                            \
    {                                                                                                                  \
        return (blocking).verify(operation, send, receive, repetition, problem);                                       \
    }                                                                                                                  \
    const struct collective coll_##name = {#name, prepare_##name, run_##name, fill_##name, verify_##name, 1};

#define BYTES (int)operation->bytes, MPI_BYTE
#define BLOCKS operation->counts, operation->offsets, MPI_BYTE
#define SENT operation->counts, operation->offsets
#define RECEIVED operation->counts + GRID_NEIGHBOURS, operation->offsets + GRID_NEIGHBOURS
#define ELEMENTS (int)elements_in(operation, operation->bytes), elements_type(operation), elements_op(operation)

NONBLOCKING(iallgather, coll_allgather, MPI_Iallgather(send, BYTES, receive, BYTES, comm, &request))
NONBLOCKING(iallgatherv, coll_allgatherv,
            MPI_Iallgatherv(send, (int)operation->send_bytes, MPI_BYTE, receive, BLOCKS, comm, &request))
NONBLOCKING(iallreduce, coll_allreduce, MPI_Iallreduce(send, receive, ELEMENTS, comm, &request))
NONBLOCKING(ialltoall, coll_alltoall, MPI_Ialltoall(send, BYTES, receive, BYTES, comm, &request))
NONBLOCKING(ialltoallv, coll_alltoallv, MPI_Ialltoallv(send, BLOCKS, receive, BLOCKS, comm, &request))
NONBLOCKING(ialltoallw, coll_alltoallw,
            MPI_Ialltoallw(send, SENT, operation->types, receive, operation->counts + operation->ranks,
                           operation->offsets + operation->ranks, operation->types + operation->ranks, comm, &request))
NONBLOCKING(ibarrier, coll_barrier, MPI_Ibarrier(comm, &request))
NONBLOCKING(ibcast, coll_bcast, MPI_Ibcast(operation->rank == 0 ? send : receive, BYTES, 0, comm, &request))
NONBLOCKING(iexscan, coll_exscan, MPI_Iexscan(send, receive, ELEMENTS, comm, &request))
NONBLOCKING(igather, coll_gather, MPI_Igather(send, BYTES, receive, BYTES, 0, comm, &request))
NONBLOCKING(igatherv, coll_gatherv,
            MPI_Igatherv(send, (int)operation->send_bytes, MPI_BYTE, receive, BLOCKS, 0, comm, &request))
NONBLOCKING(ineighbor_allgather, coll_neighbor_allgather,
            MPI_Ineighbor_allgather(send, BYTES, receive, BYTES, grid_of(comm), &request))
NONBLOCKING(ineighbor_allgatherv, coll_neighbor_allgatherv,
            MPI_Ineighbor_allgatherv(send, operation->counts[0], MPI_BYTE, receive, RECEIVED, MPI_BYTE, grid_of(comm),
                                     &request))
NONBLOCKING(ineighbor_alltoall, coll_neighbor_alltoall,
            MPI_Ineighbor_alltoall(send, BYTES, receive, BYTES, grid_of(comm), &request))
NONBLOCKING(ineighbor_alltoallv, coll_neighbor_alltoallv,
            MPI_Ineighbor_alltoallv(send, SENT, MPI_BYTE, receive, RECEIVED, MPI_BYTE, grid_of(comm), &request))
NONBLOCKING(ineighbor_alltoallw, coll_neighbor_alltoallw,
            MPI_Ineighbor_alltoallw(send, operation->counts, operation->far, operation->types, receive,
                                    operation->counts + GRID_NEIGHBOURS, operation->far + GRID_NEIGHBOURS,
                                    operation->types + GRID_NEIGHBOURS, grid_of(comm), &request))
NONBLOCKING(ireduce, coll_reduce, MPI_Ireduce(send, receive, ELEMENTS, 0, comm, &request))
NONBLOCKING(ireduce_scatter, coll_reduce_scatter,
            MPI_Ireduce_scatter(send, receive, operation->counts, elements_type(operation), elements_op(operation),
                                comm, &request))
NONBLOCKING(ireduce_scatter_block, coll_reduce_scatter_block,
            MPI_Ireduce_scatter_block(send, receive, ELEMENTS, comm, &request))
NONBLOCKING(iscan, coll_scan, MPI_Iscan(send, receive, ELEMENTS, comm, &request))
NONBLOCKING(iscatter, coll_scatter, MPI_Iscatter(send, BYTES, receive, BYTES, 0, comm, &request))
NONBLOCKING(iscatterv, coll_scatterv,
            MPI_Iscatterv(send, BLOCKS, receive, (int)operation->receive_bytes, MPI_BYTE, 0, comm, &request))
