/* What the arguments of calls that do not block, or that are started later, ask for. False: the call is the MPI library's, on all ranks
 * unless MPI forbids the arguments. Local. */
#ifndef UNISONO_WISHES_H
#define UNISONO_WISHES_H

#include "near_side.h"
#include "nonblocking.h"

bool wish_bcast(const struct comm_state *state, struct wish *wish, void *buffer, MPI_Count count, MPI_Datatype type,
                int root);
/* All that combine: `collective` is the nonblocking one's. Without a root: 0. */
bool wish_combine(struct comm_state *state, struct wish *wish, enum collective collective, int root, const void *from,
                  void *to, MPI_Count count, MPI_Datatype type, MPI_Op op);
/* COLL_IALLGATHER and COLL_IALLTOALL. */
bool wish_exchange(const struct comm_state *state, struct wish *wish, enum collective collective, const void *from,
                   MPI_Count send_count, MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type);
bool wish_gather(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                 MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type, int root);
bool wish_scatter(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                  MPI_Datatype send_type, void *to, MPI_Count count, MPI_Datatype type, int root);

/* Those with a length for each rank. */
bool wish_reduce_scatter(struct comm_state *state, struct wish *wish, const void *from, void *to,
                         const struct dispatch_vector *given, MPI_Datatype type, MPI_Op op);
bool wish_allgatherv(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                     MPI_Datatype send_type, void *to, const struct dispatch_vector *given, MPI_Datatype type);
bool wish_alltoallv(const struct comm_state *state, struct wish *wish, const void *from,
                    const struct dispatch_vector *send_given, MPI_Datatype send_type, void *to,
                    const struct dispatch_vector *given, MPI_Datatype type);
bool wish_alltoallw(const struct comm_state *state, struct wish *wish, const void *from,
                    const struct dispatch_vector *send_given, void *to, const struct dispatch_vector *given);
bool wish_gatherv(const struct comm_state *state, struct wish *wish, const void *from, MPI_Count send_count,
                  MPI_Datatype send_type, void *to, const struct dispatch_vector *given, MPI_Datatype type, int root);
bool wish_scatterv(const struct comm_state *state, struct wish *wish, const void *from,
                   const struct dispatch_vector *given, MPI_Datatype send_type, void *to, MPI_Count count,
                   MPI_Datatype type, int root);

/* Bytes of each rank's block of an ireduce_scatter, which plans need: reserve_put() afterwards. NULL: it is another one. */
int64_t *wish_lengths(const struct wish *wish, int ranks);

/* Those of neighbourhoods that can be served: `collective` is the nonblocking one's. */
bool wish_neighbor(struct around *around, struct wish *wish, enum collective collective, const struct near_side *send,
                   const struct near_side *receive);

#endif
