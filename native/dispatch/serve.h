/* Choosing for one call, and running what was chosen. */
#ifndef UNISONO_SERVE_H
#define UNISONO_SERVE_H

#include "comm_state.h"
#include "types.h"

/* Longer blocks are left to the MPI library: what has to be packed at once then fits MPI_Pack's counts, whatever types
 * the ranks use. Bytes. */
#define SERVE_LONGEST (INT64_C(1) << 30)

/* What is copied or packed for a call at a time, each way; where blocks would have to be cut into pieces shorter than
 * SERVE_PIECE, an alltoall is left to the MPI library; what an algorithm keeps of others' alltoallv, which a rule alone
 * chooses, is cut down to SERVE_KEPT. Bytes. */
#define SERVE_WINDOW (INT64_C(16) << 20)
#define SERVE_PIECE (INT64_C(4) << 10)
#define SERVE_KEPT INT64_C(64)

/* One of ours, or NULL: the call is the MPI library's, on *comm, which may have become a copy. `possible`: whether ours
 * can serve these arguments at all, the same on all ranks. */
const struct implementation *serve_choose(struct comm_state *state, const struct call *call, bool possible,
                                          MPI_Comm *comm);

/* What the rank that packs most has to pack for a call for which ranks may have to pack `bytes`, the same number on all of
 * them. Collective, where that is more than SERVE_WINDOW and the call would be ours; else PACKS_NOTHING, which so says
 * too that what there is may be packed at once. */
enum packing serve_packing(struct comm_state *state, const struct call *call, int64_t bytes, enum packing mine);

/* The greatest of what all ranks say, none of it negative; 0 where a rank has died. All of them wait here, and one may
 * have ended: hence not MPI_Allreduce, in which the others would wait for ever. Only where the call is ours. */
int64_t serve_most(struct comm_state *state, int64_t mine);

/* Whether what all ranks say is together 0, modulo 2^64. As serve_most(): false where a rank has died. */
bool serve_sums_to_none(struct comm_state *state, uint64_t mine);

/* Whether ranks agree at this call: each counts the calls, and all count alike. At the first, the second, the fourth ..., and at
 * every one once something was found. */
bool serve_turn(struct device_watch *watch);

/* How to combine; false when ours cannot. */
bool serve_reduction(struct comm_state *state, struct reduction *reduction, MPI_Datatype type, MPI_Op op,
                     const struct layout *layout);

/* Memory for packing. MPI error codes. */
int serve_room(struct comm_state *state, int which, int64_t bytes, void **room);

int serve_run(struct comm_state *state, const struct call *call, const struct implementation *ours);

/* After a run: gives large memory back, tells the program's error handler. Always true. */
bool serve_end(struct comm_state *state, int failed, int *error);

/* Both. */
static inline bool serve(struct comm_state *state, const struct call *call, const struct implementation *ours,
                         int *error)
{
    return serve_end(state, serve_run(state, call, ours), error);
}

/* Whether ours, or a copy, would serve this: what serve_choose says without counting it. Collective. */
const struct implementation *serve_would(struct comm_state *state, enum collective collective,
                                         const struct shape *shape);

#endif
