/* Neighbourhoods that do not block, or that are started again. Whose neighbour is who ranks agree on (around.h); then a call is like
 * an ialltoallv in which who is no neighbour has nothing, and a rank waits for its neighbours alone. */
#include "dispatch.h"
#include "comm_state.h"
#include "persistent.h"
#include "wishes.h"

/* Those of ranks that cannot have it served, or do not know yet, are counted all the same. */
static bool begin(enum collective collective, const struct near_side *send, const struct near_side *receive,
                  MPI_Comm comm, MPI_Request *request, int *error)
{
    struct comm_state *state = comm_state_of_nonblocking(comm, collective);
    struct around *around = state != NULL ? around_known(state) : NULL;
    struct wish wish = {.call = {.collective = collective, .most = 1}};
    const bool is_wish = around == NULL || wish_neighbor(around, &wish, collective, send, receive);
    if (state != NULL && is_wish && nonblocking_begin(state, &wish, request, error))
        return true;
    nonblocking_left(comm, collective, 0, MPI_BYTE, MPI_OP_NULL);
    return false;
}

/* Where there is memory for it ranks agree once on whose neighbours they are: making a request may wait. */
static void make(enum collective collective, const struct near_side *send, const struct near_side *receive,
                 MPI_Comm comm, MPI_Request request)
{
    struct comm_state *state = persistent_place(comm);
    struct around *around = state != NULL && state->keep != NULL ? around_of_user(state) : NULL;
    struct wish wish = {.call = {.collective = collective, .most = 1}};
    const bool possible = around != NULL && around->possible && wish_neighbor(around, &wish, collective, send, receive);
    persistent_make(state, possible, &wish, request);
}

bool dispatch_ineighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                  MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    const struct near_side out = near_one(send, send_count, send_type), in = near_each(receive, count, type);
    return begin(COLL_INEIGHBOR_ALLGATHER, &out, &in, comm, request, error);
}

bool dispatch_ineighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                   struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                                   int *error)
{
    const struct near_side out = near_one(send, send_count, send_type), in = near_vector(receive, given, type);
    return begin(COLL_INEIGHBOR_ALLGATHERV, &out, &in, comm, request, error);
}

bool dispatch_ineighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                 MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error)
{
    const struct near_side out = near_each(send, send_count, send_type), in = near_each(receive, count, type);
    return begin(COLL_INEIGHBOR_ALLTOALL, &out, &in, comm, request, error);
}

bool dispatch_ineighbor_alltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type,
                                  void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                  MPI_Request *request, int *error)
{
    const struct near_side out = near_vector(send, send_given, send_type), in = near_vector(receive, given, type);
    return begin(COLL_INEIGHBOR_ALLTOALLV, &out, &in, comm, request, error);
}

bool dispatch_ineighbor_alltoallw(const void *send, struct dispatch_vector send_given, void *receive,
                                  struct dispatch_vector given, MPI_Comm comm, MPI_Request *request, int *error)
{
    const struct near_side out = near_typed(send, send_given), in = near_typed(receive, given);
    return begin(COLL_INEIGHBOR_ALLTOALLW, &out, &in, comm, request, error);
}

void dispatch_neighbor_allgather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                      MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    const struct near_side out = near_one(send, send_count, send_type), in = near_each(receive, count, type);
    make(COLL_INEIGHBOR_ALLGATHER, &out, &in, comm, request);
}

void dispatch_neighbor_allgatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                       struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                       MPI_Request request)
{
    const struct near_side out = near_one(send, send_count, send_type), in = near_vector(receive, given, type);
    make(COLL_INEIGHBOR_ALLGATHERV, &out, &in, comm, request);
}

void dispatch_neighbor_alltoall_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                     MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request)
{
    const struct near_side out = near_each(send, send_count, send_type), in = near_each(receive, count, type);
    make(COLL_INEIGHBOR_ALLTOALL, &out, &in, comm, request);
}

void dispatch_neighbor_alltoallv_init(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type,
                                      void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                      MPI_Request request)
{
    const struct near_side out = near_vector(send, send_given, send_type), in = near_vector(receive, given, type);
    make(COLL_INEIGHBOR_ALLTOALLV, &out, &in, comm, request);
}

void dispatch_neighbor_alltoallw_init(const void *send, struct dispatch_vector send_given, void *receive,
                                      struct dispatch_vector given, MPI_Comm comm, MPI_Request request)
{
    const struct near_side out = near_typed(send, send_given), in = near_typed(receive, given);
    make(COLL_INEIGHBOR_ALLTOALLW, &out, &in, comm, request);
}
