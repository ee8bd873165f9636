/* Choosing for one call, and running what was chosen. */
#ifndef UNISONO_SERVE_H
#define UNISONO_SERVE_H

#include "state.h"
#include "types.h"

/* Longer blocks are left to the MPI library: what has to be packed at once then fits MPI_Pack's counts, whatever types
 * the ranks use. Bytes. */
#define SERVE_LONGEST (INT64_C(1) << 30)

/* An alltoall in place moves so much at a time, there and back together; where blocks would have to be cut into pieces
 * shorter than SERVE_PIECE, it is left to the MPI library. Bytes. */
#define SERVE_COPIED (INT64_C(32) << 20)
#define SERVE_PIECE (INT64_C(4) << 10)

/* One of ours, or NULL: the call is the MPI library's, on *comm, which may have become a copy. `possible`: whether ours
 * can serve these arguments at all, the same on all ranks. */
const struct implementation *serve_choose(struct state *state, const struct call *call, bool possible, MPI_Comm *comm);

/* How to combine; false when ours cannot. */
bool serve_reduction(struct state *state, struct reduction *reduction, MPI_Datatype type, MPI_Op op,
                     const struct layout *layout);

/* Memory for packing. MPI error codes. */
int serve_room(struct state *state, int which, int64_t bytes, void **room);

int serve_run(struct state *state, const struct call *call, const struct implementation *ours);

/* After a run: gives large memory back, tells the program's error handler. Always true. */
bool serve_end(struct state *state, int failed, int *error);

/* Both. */
static inline bool serve(struct state *state, const struct call *call, const struct implementation *ours, int *error)
{
    return serve_end(state, serve_run(state, call, ours), error);
}

/* Whether ours, or a copy, would serve this: what serve_choose says without counting it. Collective. */
const struct implementation *serve_would(struct state *state, enum collective collective, const struct shape *shape);

#endif
