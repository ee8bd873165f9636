/* Who sends to whom in `exchange`: what a profile told of a program, replayed. Pure. */
#ifndef UNISONO_PARTNERS_H
#define UNISONO_PARTNERS_H

#include <stdbool.h>

#include "command.h"

enum { PARTNERS_MOST = 512, STEP_MOST = 1024 };

/* What a rank does in a step, one after the other. */
enum { STEP_IRECV, STEP_ISEND, STEP_RECV, STEP_SEND, STEP_WAIT /* for all that is under way */, STEP_OPERATIONS };

struct action {
    int rank, operation, peer, bytes, tag;
};
enum { ACTION_NUMBERS = 5 };
_Static_assert(sizeof(struct action) == ACTION_NUMBERS * sizeof(int), "an action is its numbers");

struct partners {
    int pairs[PARTNERS_MOST][2];   /* source and target of each message of a step */
    int count;                     /* 0: each rank sends to the ranks before and after it, in a ring */
    struct action step[STEP_MOST]; /* of all ranks, each in its order; instead of pairs */
    int actions;
};

/* Reads `partners`: source,target,source,target,..., and `step`: rank,operation,peer,bytes,tag,...; without them none. */
bool partners_read(struct partners *partners, struct command *command, struct problem *problem);

/* Writes whom `rank` sends to and whom it receives from, in the order of the pairs, at most PARTNERS_MOST each. False
 * where a pair names a rank that is not there. */
bool partners_of(const struct partners *partners, int rank, int ranks, int *targets, int *target_count, int *sources,
                 int *source_count, struct problem *problem);

/* The actions of `rank` in their order, at most STEP_MOST, into `own`. False where one names a rank that is not there. */
bool partners_step(const struct partners *partners, int rank, int ranks, struct action *own, int *count,
                   struct problem *problem);

#endif
