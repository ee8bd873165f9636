/* Persistent collectives as they are made: each start is what the nonblocking call would be. */
#include "dispatch.h"
#include "persistent.h"

void dispatch_barrier_init(MPI_Comm comm, MPI_Request request)
{
    const struct wish wish = {.call = {.collective = COLL_IBARRIER}};
    persistent_make(persistent_place(comm), true, &wish, request);
}

void dispatch_bcast_init(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_bcast(state, &wish, buffer, count, type, root);
    persistent_make(state, possible, &wish, request);
}

/* All that combine. */
static void combine(enum collective collective, int root, const void *send, void *receive, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_combine(state, &wish, collective, root, send, receive, count, type, op);
    persistent_make(state, possible, &wish, request);
}

void dispatch_reduce_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm, MPI_Request request)
{
    combine(COLL_IREDUCE, root, send, receive, count, type, op, comm, request);
}

void dispatch_allreduce_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Request request)
{
    combine(COLL_IALLREDUCE, 0, send, receive, count, type, op, comm, request);
}

void dispatch_scan_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request request)
{
    combine(COLL_ISCAN, 0, send, receive, count, type, op, comm, request);
}

void dispatch_exscan_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Request request)
{
    combine(COLL_IEXSCAN, 0, send, receive, count, type, op, comm, request);
}

void dispatch_reduce_scatter_block_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm, MPI_Request request)
{
    combine(COLL_IREDUCE_SCATTER_BLOCK, 0, send, receive, count, type, op, comm, request);
}

static void exchange(enum collective collective, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                     void *receive, MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible =
        state != NULL && wish_exchange(state, &wish, collective, send, send_count, send_type, receive, count, type);
    persistent_make(state, possible, &wish, request);
}

void dispatch_allgather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                             MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    exchange(COLL_IALLGATHER, send, send_count, send_type, receive, count, type, comm, request);
}

void dispatch_alltoall_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                            MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    exchange(COLL_IALLTOALL, send, send_count, send_type, receive, count, type, comm, request);
}

void dispatch_gather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                          MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_gather(state, &wish, send, send_count, send_type, receive, count, type, root);
    persistent_make(state, possible, &wish, request);
}

void dispatch_scatter_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                           MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible =
        state != NULL && wish_scatter(state, &wish, send, send_count, send_type, receive, count, type, root);
    persistent_make(state, possible, &wish, request);
}

void dispatch_reduce_scatter_init(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_reduce_scatter(state, &wish, send, receive, &given, type, op);
    persistent_make(state, possible, &wish, request);
}

void dispatch_allgatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                              struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_allgatherv(state, &wish, send, send_count, send_type, receive, &given, type);
    persistent_make(state, possible, &wish, request);
}

void dispatch_alltoallv_init(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                             struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_alltoallv(state, &wish, send, &send_given, send_type, receive, &given, type);
    persistent_make(state, possible, &wish, request);
}

void dispatch_alltoallw_init(const void *send, struct dispatch_vector send_given, void *receive,
                             struct dispatch_vector given, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_alltoallw(state, &wish, send, &send_given, receive, &given);
    persistent_make(state, possible, &wish, request);
}

void dispatch_gatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                           struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm comm,
                           MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible =
        state != NULL && wish_gatherv(state, &wish, send, send_count, send_type, receive, &given, type, root);
    persistent_make(state, possible, &wish, request);
}

void dispatch_scatterv_init(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                            MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct wish wish;
    bool possible = state != NULL && wish_scatterv(state, &wish, send, &given, send_type, receive, count, type, root);
    persistent_make(state, possible, &wish, request);
}
