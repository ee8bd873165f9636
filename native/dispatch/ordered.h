/* UNISONO_REPRODUCIBLE: reductions whose results do not depend on who is quick, on where ranks are, or on how many there are.
 *
 *     runs       the same launch gives the same bits: what chooses an algorithm is the same each time (nothing that was
 *                measured at the start, no count of seconds), and components that combine what comes first are not used
 *     placement  also when the same ranks are elsewhere, or others serve: elements are combined in order of the ranks,
 *                ((a0 op a1) op a2) op ...
 *     ranks      also when the same numbers come from more or fewer ranks: sums of floating-point numbers, real and
 *                complex, are rounded once (exact.h); all else as `placement`
 *
 * With the last two every reduce, allreduce and reduce_scatter within a group is served here: by an algorithm of ours
 * that keeps the order or, where none applies and for reduce_scatter, by gathers or an alltoallv of the MPI library and
 * a loop. */
#ifndef UNISONO_ORDERED_H
#define UNISONO_ORDERED_H

#include "dispatch.h"
#include "collectives.h"

/* Which order reductions keep, and whether only what keeps it may serve this collective: of reduce_scatter(_block) nothing of
 * ours does yet. */
enum reduction_order ordered_order(void);
bool ordered_keeps(enum collective collective);

/* Where an order is asked for and no algorithm of ours serves: by the MPI library's gathers, in pieces. As dispatch.h's
 * functions. */
bool ordered_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                    MPI_Comm comm, int *error);
bool ordered_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       int *error);
/* `blocks` NULL: `block` elements for every rank. */
bool ordered_reduce_scatter(const void *send, void *receive, const struct dispatch_vector *blocks, MPI_Count block,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *error);

#endif
