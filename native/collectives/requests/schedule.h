/* A plan (plan.h) that is under way as messages: what can be done of it at once is done, and nothing is ever waited for. So a
 * nonblocking collective over several nodes is started and moved on.
 *
 * Messages of a rank to another on one communicator stay in order, and all ranks begin collectives in the same order, so that
 * schedules may follow one another by one tag. To let several go on at the same time there are a few tags: schedule number i
 * begins when number i - SCHEDULES is over on this rank. */
#ifndef UNISONO_SCHEDULE_H
#define UNISONO_SCHEDULE_H

#include "../collectives.h"
#include "plan.h"

enum { SCHEDULES = 4 };

/* Where messages go: on a private communicator, by SCHEDULES tags; or, where there is none, on MPI_COMM_WORLD's, each to tags that its
 * receiver has chosen. The receiver knows that no message to it is under way any more when its communicator ends, and may choose the
 * tags again. */
struct schedule_route {
    MPI_Comm comm;
    int tags;          /* the first; of number 0, where receivers choose */
    const int *ranks;  /* there, by rank of the communicator; NULL: the same */
    const int *number; /* of each rank, known once all have said it; NULL: all have the same tags */
};

struct schedule {
    struct coll_comm *comm;
    struct schedule_route route;
    struct call call;
    uint64_t number; /* among those of the communicator */
    struct plan plan;
    int at; /* the next step */
    MPI_Request *request;
    int under_way;
    bool has_begun;
    void *mine, *beside; /* vectors, or blocks */
    int64_t *
        edge; /* where blocks of unlike lengths begin in memory of ours, in the order of the nodes, and where the last ends; else NULL */
    int64_t *place;         /* where each rank's is in the program's memory */
    void *made;             /* memory of these, where it is its own */
    unsigned char token[2]; /* the vectors of a barrier */
};

/* Whether this can be had on the communicator: the same on all ranks. */
bool schedule_applies(const struct coll_comm *comm, enum collective collective, const struct shape *shape);
/* Bytes that it takes beside the buffers, on the rank that takes most. */
int64_t schedule_scratch(const struct coll_comm *comm, enum collective collective, int64_t bytes);

/* The next one of the communicator. Local. Buffers, as in struct call, belong to it until it is over. Blocks of unlike lengths are told by
 * the call: of iallgatherv by receive_*, which must last until then, of ireduce_scatter by send_bytes. */
void schedule_make(struct schedule *schedule, struct coll_comm *comm, struct schedule_route route,
                   const struct call *call);
/* Does what can be done. `may_begin`: number - SCHEDULES is over, and the route is known. True: it is over, or has failed with *error. */
bool schedule_move(struct schedule *schedule, bool may_begin, int *error);
/* It is over, and may be moved from its begin once more, with what is in the buffers then. Persistent ones, each by a tag of its own, which
 * no other has on any of these ranks: starts of one follow one another by it. */
void schedule_again(struct schedule *schedule);
void schedule_free(struct schedule *schedule);

/* The same as a call that blocks. MPI error code. */
int schedule_run(struct coll_comm *comm, const struct call *call);

#endif
