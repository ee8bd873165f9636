/* Nonblocking calls; see calls.c. */
#include "dispatch.h"
#include "comm_state.h"
#include "wishes.h"

/* The MPI library's: false. Its message size is told by what is significant on this rank. */
static bool left(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type)
{
    nonblocking_left(comm, collective, count, type, MPI_OP_NULL);
    return false;
}

static bool left_to_combine(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    nonblocking_left(comm, collective, count, type, op);
    return false;
}

/* The same with a root, which between groups may be MPI_ROOT or MPI_PROC_NULL: nothing else need be significant then. */
static bool left_to_root(MPI_Comm comm, enum collective collective, int root, MPI_Count count, MPI_Datatype type)
{
    return root >= 0 && left(comm, collective, count, type);
}

bool dispatch_ibarrier(MPI_Comm comm, MPI_Request *request, int *error)
{
    const struct wish wish = {.call = {.collective = COLL_IBARRIER}};
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IBARRIER);
    return (state != NULL && nonblocking_begin(state, &wish, request, error)) || left(comm, COLL_IBARRIER, 0, MPI_BYTE);
}

bool dispatch_ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request,
                     int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IBCAST);
    struct wish wish;
    return (state != NULL && wish_bcast(state, &wish, buffer, count, type, root) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left_to_root(comm, COLL_IBCAST, root, count, type);
}

/* All that combine. */
static bool combine(enum collective collective, int root, const void *send, void *receive, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, collective);
    struct wish wish;
    return (state != NULL && wish_combine(state, &wish, collective, root, send, receive, count, type, op) &&
            nonblocking_begin(state, &wish, request, error)) ||
           (root >= 0 && left_to_combine(comm, collective, count, type, op));
}

bool dispatch_ireduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request *request, int *error)
{
    return combine(COLL_IREDUCE, root, send, receive, count, type, op, comm, request, error);
}

bool dispatch_iallreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request *request, int *error)
{
    return combine(COLL_IALLREDUCE, 0, send, receive, count, type, op, comm, request, error);
}

bool dispatch_iscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request, int *error)
{
    return combine(COLL_ISCAN, 0, send, receive, count, type, op, comm, request, error);
}

bool dispatch_iexscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request, int *error)
{
    return combine(COLL_IEXSCAN, 0, send, receive, count, type, op, comm, request, error);
}

bool dispatch_ireduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm, MPI_Request *request, int *error)
{
    return combine(COLL_IREDUCE_SCATTER_BLOCK, 0, send, receive, count, type, op, comm, request, error);
}

/* iallgather and ialltoall. */
static bool exchange(enum collective collective, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                     void *receive, MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, collective);
    struct wish wish;
    return (state != NULL &&
            wish_exchange(state, &wish, collective, send, send_count, send_type, receive, count, type) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, collective, count, type);
}

bool dispatch_iallgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                         MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    return exchange(COLL_IALLGATHER, send, send_count, send_type, receive, count, type, comm, request, error);
}

bool dispatch_ialltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    return exchange(COLL_IALLTOALL, send, send_count, send_type, receive, count, type, comm, request, error);
}

bool dispatch_igather(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count,
                      MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IGATHER);
    struct wish wish;
    const bool in_place = from == MPI_IN_PLACE;
    return (state != NULL && wish_gather(state, &wish, from, send_count, send_type, to, count, type, root) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left_to_root(comm, COLL_IGATHER, root, in_place ? count : send_count, in_place ? type : send_type);
}

bool dispatch_iscatter(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count,
                       MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_ISCATTER);
    struct wish wish;
    const bool in_place = to == MPI_IN_PLACE;
    return (state != NULL && wish_scatter(state, &wish, from, send_count, send_type, to, count, type, root) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left_to_root(comm, COLL_ISCATTER, root, in_place ? send_count : count, in_place ? send_type : type);
}

bool dispatch_ireduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IREDUCE_SCATTER);
    struct wish wish = {.call = {.bytes = 0}};
    return (state != NULL && wish_reduce_scatter(state, &wish, send, receive, &given, type, op) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left_to_combine(comm, COLL_IREDUCE_SCATTER, (MPI_Count)wish.call.bytes, MPI_BYTE, op);
}

bool dispatch_iallgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                          struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                          int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IALLGATHERV);
    struct wish wish = {.call = {.bytes = 0}};
    return (state != NULL && wish_allgatherv(state, &wish, send, send_count, send_type, receive, &given, type) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, COLL_IALLGATHERV, (MPI_Count)wish.call.bytes, MPI_BYTE);
}

bool dispatch_ialltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                         struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                         int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IALLTOALLV);
    struct wish wish;
    return (state != NULL && wish_alltoallv(state, &wish, send, &send_given, send_type, receive, &given, type) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, COLL_IALLTOALLV, 0, MPI_BYTE);
}

bool dispatch_ialltoallw(const void *send, struct dispatch_vector send_given, void *receive,
                         struct dispatch_vector given, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IALLTOALLW);
    struct wish wish;
    return (state != NULL && wish_alltoallw(state, &wish, send, &send_given, receive, &given) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, COLL_IALLTOALLW, 0, MPI_BYTE);
}

bool dispatch_igatherv(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to,
                       struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request,
                       int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_IGATHERV);
    struct wish wish;
    return (state != NULL && wish_gatherv(state, &wish, from, send_count, send_type, to, &given, type, root) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, COLL_IGATHERV, 0, MPI_BYTE);
}

bool dispatch_iscatterv(const void *from, struct dispatch_vector given, MPI_Datatype send_type, void *to,
                        MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, COLL_ISCATTERV);
    struct wish wish;
    return (state != NULL && wish_scatterv(state, &wish, from, &given, send_type, to, count, type, root) &&
            nonblocking_begin(state, &wish, request, error)) ||
           left(comm, COLL_ISCATTERV, 0, MPI_BYTE);
}
