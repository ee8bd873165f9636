/* Everybody to everybody over a torus of places, one block each, in the order of a spread (spread.h): blocks
 * half-way round a ring go by neighbours. Message by message, so that several may go on at once. */
#ifndef UNISONO_TORUS_BALANCED_H
#define UNISONO_TORUS_BALANCED_H

#include "../collectives.h"
#include "spread.h"

enum { BALANCED_AHEAD = 24 };

/* A message under way: what comes is taken apart when it is there. */
struct balanced_message {
    int offset;
    MPI_Request requests[2];
    char *in; /* NULL: the block alone, straight to its place */
};

struct balanced {
    /* To be set before balanced_plan. */
    struct coll_comm *comm;
    const struct torus *torus;
    int here;         /* this rank's place */
    const int *ranks; /* by place */
    int64_t block;    /* bytes */
    const char *send; /* blocks by place */
    char *receive;
    int tag, ahead;  /* messages under way at once, at most BALANCED_AHEAD */
    int turn, turns; /* ranks that begin at different points of the order, to load all directions: which, of how many */
    int count;       /* out: messages */

    /* Private. */
    int *offsets;   /* in their order, without those half-way */
    int *number_of; /* offset -> its number in that order */
    int *stored_at; /* offset -> where halves of blocks that go so far are stored, or -1 */
    char *stored;   /* two halves each */
    int stores;
    int64_t most; /* bytes of the longest message */
    char *buffers;
    int begun, finished; /* finished: messages that have come, and been taken apart, in order */
    struct balanced_message messages[BALANCED_AHEAD];
};

/* The order. How many bytes balanced_begin needs; -1: no memory. */
int64_t balanced_plan(struct balanced *balanced);
/* `room`: of so many bytes, until the end. */
void balanced_begin(struct balanced *balanced, char *room);
/* The next of `count` messages. MPI error codes. */
int balanced_step(struct balanced *balanced);
/* Until all have come and gone, if there was no error; frees what plan made, in any case. */
int balanced_end(struct balanced *balanced, int error);

#endif
