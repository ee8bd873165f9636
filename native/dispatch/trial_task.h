/* One collective at one size, as the trial runs it: by an algorithm of ours, or by the MPI library. */
#ifndef UNISONO_TRIAL_TASK_H
#define UNISONO_TRIAL_TASK_H

#include "trial.h"

/* An element of types with gaps; how many sizes of a collective are tried of which ranks know nothing (task_is_typed). */
enum { PART = 64, TYPED = 3, DIMENSIONS = 3 };

/* What is sent and received, and the blocks of a reduce_scatter, gatherv or scatterv: elements for the MPI library, bytes and
 * places for ours; by rank. */
struct trial_room {
    void *send, *receive;
    int *counts, *places;
    int64_t *bytes, *at;
    MPI_Datatype *types; /* of an alltoallw */
    MPI_Datatype gapped; /* PART bytes, and a gap as long */
    struct coll_comm
        *meeting;  /* of the same ranks, whose barrier leaves alone what calls prepare; NULL: there is none */
    MPI_Comm grid; /* of three dimensions, for neighbourhoods; MPI_COMM_NULL: it cannot be had */
    struct neighbours around;
    int ranks[2 * DIMENSIONS]; /* around's */
};

/* One collective at one size. */
struct task {
    const struct trial_room *room;
    struct shape shape;
    struct call call;
    int count, calls; /* algorithms, and calls of each in a round */
    int algorithm[TRIAL_ALGORITHMS];
};

bool task_is_rooted(enum collective collective);

/* Whether ranks know neither sizes nor what others have to pack, so that ours serve where they are quicker at all that is
 * tried: with short blocks and long ones, with and without gaps. */
static inline bool task_is_typed(enum collective collective)
{
    return collective == COLL_ALLTOALLW || collective_is_near(collective);
}

/* One of these, with blocks of so many bytes. False: it is not tried at this size, or too long for `most`. */
bool task_set_up_typed(struct task *task, enum collective collective, const struct coll_comm *comm, int64_t bytes,
                       int64_t most, const struct trial_room *room);
/* Collective over `comm`: the type, where to meet, the grid and its neighbours. */
void task_prepare(struct trial_room *room, MPI_Comm comm);
void task_end(struct trial_room *room);

/* Before each call: all cache lines of what this rank sends are this core's alone, as in a program that has just made it.
 * Otherwise who read them before would still have them. */
void task_write(const struct task *task, const struct coll_comm *comm);

/* MPI error code. */
int task_run_ours(const struct task *task, const struct algorithm *algorithm, struct coll_comm *comm);
void task_run_rival(const struct task *task, MPI_Comm comm);

#endif
