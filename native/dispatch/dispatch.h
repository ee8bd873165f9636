/* From the symbols to what serves a call: ours, a copy of the communicator on which the MPI library takes another way, or
 * the MPI library untouched.
 *
 * Each function takes the MPI function's own arguments, in C's form. True: the call has been served, *error is what it
 * returns. False: it is the MPI library's, on *comm, which may have become a copy: then what the library returns goes
 * through dispatch_returned(). */
#ifndef UNISONO_DISPATCH_H
#define UNISONO_DISPATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "collective.h"

/* Whether any call may be served. False without rules, UNISONO_COLLECTIVES, UNISONO_FORCE and unisono_use(): with that a thread sets
 * it, and what it has found about the job, while others call. */
extern _Atomic unsigned char dispatch_active;

/* Calls arrive by PMPI_X, since a rank has another tool (intercept/tools.h): set on ranks that have, then on all. */
extern _Atomic unsigned char dispatch_below;

/* Whatever completes a request comes by here, also by PMPI_X as Fortran's bindings do. Not where this library is linked in. */
extern _Atomic unsigned char dispatch_all_complete;

void dispatch_start(void);  /* after MPI_Init; collective, once agree_start() said yes */
void dispatch_finish(void); /* before MPI_Finalize; collective */

/* Counts and displacements by rank or neighbour, each of either width; of reduce_scatter counts alone. Of alltoallw and
 * neighbor_alltoallw a type for each, a program's in Fortran or in C; their displacements are bytes. */
struct dispatch_vector {
    const int *counts, *at;
    const MPI_Count *long_counts;
    const MPI_Aint *long_at;
    const MPI_Datatype *types;
    const MPI_Fint *fortran_types;
};

static inline struct dispatch_vector dispatch_vector(const int *counts, const int *at)
{
    return (struct dispatch_vector){.counts = counts, .at = at};
}

static inline struct dispatch_vector dispatch_vector_c(const MPI_Count *counts, const MPI_Aint *at)
{
    return (struct dispatch_vector){.long_counts = counts, .long_at = at};
}

/* Of neighbor_alltoallw. */
static inline struct dispatch_vector dispatch_vector_far(const int *counts, const MPI_Aint *at)
{
    return (struct dispatch_vector){.counts = counts, .long_at = at};
}

/* `types`: MPI_Datatype of C, or MPI_Fint. */
static inline struct dispatch_vector dispatch_typed(struct dispatch_vector vector, const void *types, bool fortran)
{
    vector.types = fortran ? NULL : types;
    vector.fortran_types = fortran ? types : NULL;
    return vector;
}

bool dispatch_barrier(MPI_Comm *comm, int *error);
bool dispatch_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool dispatch_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                     MPI_Comm *comm, int *error);
bool dispatch_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                        int *error);
bool dispatch_scan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                   int *error);
bool dispatch_exscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                     int *error);
bool dispatch_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                         struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type, void *receive,
                        struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                        struct dispatch_vector blocks, MPI_Comm *comm, int *error);
bool dispatch_gather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                     MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool dispatch_reduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                             MPI_Op op, MPI_Comm *comm, int *error);
bool dispatch_reduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm *comm, int *error);
bool dispatch_scatter(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                      MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool dispatch_neighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                 MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_neighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                  struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_neighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error);
bool dispatch_neighbor_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type,
                                 void *receive, struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm,
                                 int *error);
bool dispatch_neighbor_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                                 struct dispatch_vector blocks, MPI_Comm *comm, int *error);
bool dispatch_gatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                      struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool dispatch_scatterv(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                       MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error);

/* Nonblocking collectives: whether any may be served, and which; how many of them are under way on this rank. Their requests are
 * generalized ones of MPI, so that everything that completes requests knows them; what it awaits has to be moved on before. */
extern unsigned char dispatch_posts;
/* Why a call is looked at: the program has asked for one of ours on a communicator, as its ranks alone know, or what serves is to be
 * listed; or for what all ranks know, and then calls are counted (comm_state_of_nonblocking()). All others are the MPI library's at
 * once. */
enum { BEGINS_NOT, BEGINS_SEEN, BEGINS_COUNTED };
extern unsigned char dispatch_begins[COLLECTIVES];
/* The MPI library has been given an algorithm for the call that begins (libnbc.h), and afterwards is given it no more. */
extern bool dispatch_held;
void dispatch_release(void);
extern int dispatch_under_way;

bool dispatch_ibarrier(MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request,
                     int *error);
bool dispatch_ireduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_iallreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request *request, int *error);
bool dispatch_iscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request, int *error);
bool dispatch_iexscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request, int *error);
bool dispatch_ireduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_iallgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                         MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ialltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_igather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                      MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_iscatter(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                       MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ireduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_iallgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                          struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                          int *error);
bool dispatch_ialltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                         struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                         int *error);
bool dispatch_ialltoallw(const void *send, struct dispatch_vector send_given, void *receive,
                         struct dispatch_vector given, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_igatherv(const void *from, MPI_Count send_count, MPI_Datatype send_type, void *to,
                       struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request,
                       int *error);
bool dispatch_iscatterv(const void *from, struct dispatch_vector given, MPI_Datatype send_type, void *to,
                        MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ineighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                  MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ineighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                   struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request *request,
                                   int *error);
bool dispatch_ineighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                 MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request, int *error);
bool dispatch_ineighbor_alltoallv(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type,
                                  void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                  MPI_Request *request, int *error);
bool dispatch_ineighbor_alltoallw(const void *send, struct dispatch_vector send_given, void *receive,
                                  struct dispatch_vector given, MPI_Comm comm, MPI_Request *request, int *error);

/* The MPI library makes the request of a persistent one, of which each start is what the nonblocking `collective` is: it may be given
 * an algorithm for that (libnbc.h). `op`: of what reduces; without a root: 0. */
void dispatch_before_init(enum collective collective, int root, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* Persistent collectives (persistent.h), after the MPI library has made their requests: collective, as the calls are. */
void dispatch_barrier_init(MPI_Comm comm, MPI_Request request);
void dispatch_bcast_init(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         MPI_Request request);
void dispatch_reduce_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm, MPI_Request request);
void dispatch_allreduce_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Request request);
void dispatch_scan_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request request);
void dispatch_exscan_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Request request);
void dispatch_reduce_scatter_block_init(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm, MPI_Request request);
void dispatch_allgather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                             MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_alltoall_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                            MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_gather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                          MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request);
void dispatch_scatter_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                           MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request);
void dispatch_reduce_scatter_init(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm, MPI_Request request);
void dispatch_allgatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                              struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_alltoallv_init(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type, void *receive,
                             struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_alltoallw_init(const void *send, struct dispatch_vector send_given, void *receive,
                             struct dispatch_vector given, MPI_Comm comm, MPI_Request request);
void dispatch_gatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                           struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm comm,
                           MPI_Request request);
void dispatch_scatterv_init(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                            MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request request);
void dispatch_neighbor_allgather_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                      MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_neighbor_allgatherv_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                       struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                       MPI_Request request);
void dispatch_neighbor_alltoall_init(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                     MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
void dispatch_neighbor_alltoallv_init(const void *send, struct dispatch_vector send_given, MPI_Datatype send_type,
                                      void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Comm comm,
                                      MPI_Request request);
void dispatch_neighbor_alltoallw_init(const void *send, struct dispatch_vector send_given, void *receive,
                                      struct dispatch_vector given, MPI_Comm comm, MPI_Request request);

/* How many of those that this rank has are ours, and how many are known. */
extern int dispatch_kept, dispatch_known;
/* The program starts it. False: so must the MPI library. */
bool dispatch_again(MPI_Request request, int *error);
/* The program frees it. */
void dispatch_forget(MPI_Request request);

/* Functions that complete requests, where some are ours. They take the MPI function's own arguments, and what goes on to the
 * MPI library with the others. */
int dispatch_kept_wait(MPI_Request *request, MPI_Status *status, int (*go_on)(MPI_Request *, MPI_Status *));
int dispatch_kept_test(MPI_Request *request, int *flag, MPI_Status *status,
                       int (*go_on)(MPI_Request *, int *, MPI_Status *));
int dispatch_kept_request_get_status(MPI_Request request, int *flag, MPI_Status *status,
                                     int (*go_on)(MPI_Request, int *, MPI_Status *));
int dispatch_kept_waitall(int count, MPI_Request *requests, MPI_Status *statuses,
                          int (*go_on)(int, MPI_Request *, MPI_Status *));
int dispatch_kept_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses,
                          int (*go_on)(int, MPI_Request *, int *, MPI_Status *));
int dispatch_kept_waitany(int count, MPI_Request *requests, int *which, MPI_Status *status,
                          int (*go_on)(int, MPI_Request *, int *, MPI_Status *));
int dispatch_kept_testany(int count, MPI_Request *requests, int *which, int *flag, MPI_Status *status,
                          int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *));
int dispatch_kept_waitsome(int count, MPI_Request *requests, int *some, int *places, MPI_Status *statuses,
                           int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *));
int dispatch_kept_testsome(int count, MPI_Request *requests, int *some, int *places, MPI_Status *statuses,
                           int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *));
int dispatch_kept_request_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses,
                                         int (*go_on)(int, const MPI_Request *, int *, MPI_Status *));
int dispatch_kept_request_get_status_any(int count, const MPI_Request *requests, int *which, int *flag,
                                         MPI_Status *status,
                                         int (*go_on)(int, const MPI_Request *, int *, int *, MPI_Status *));
int dispatch_kept_request_get_status_some(int count, const MPI_Request *requests, int *some, int *places,
                                          MPI_Status *statuses,
                                          int (*go_on)(int, const MPI_Request *, int *, int *, MPI_Status *));

/* Moves on what can be. Waits for nobody. */
void dispatch_move(void);
/* Until those of these that are ours are complete. */
void dispatch_await_all(int count, const MPI_Request *requests);
/* A turn of waiting for one of these that is ours, *turn counts from 0; false: none is under way. */
bool dispatch_turn(int count, const MPI_Request *requests, unsigned *turn);

/* Whether this thread's calls are left to the MPI library: while a communicator ends, what is kept with it may be gone
 * before the program's callbacks for its attributes have run. What it was before. */
bool dispatch_aside(bool aside);

/* The program ends a communicator, as all its ranks do: what is kept with it goes now. MPICH would let it go when the last request
 * on it is over, in the middle of some other call. */
void dispatch_ends(MPI_Comm comm);

/* The program has revoked a communicator: so are those on which its collectives are served, by the same function. */
void dispatch_revoked(MPI_Comm comm, int (*revoke)(MPI_Comm));

/* What a call on a copy returned, for the program: its own communicator's error handler hears of it. */
int dispatch_returned(MPI_Comm user, MPI_Comm used, int error);

#endif
