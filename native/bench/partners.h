/* Who sends to whom in `exchange`: what a profile told of a program, replayed. Pure. */
#ifndef UNISONO_PARTNERS_H
#define UNISONO_PARTNERS_H

#include <stdbool.h>

#include "command.h"

enum { PARTNERS_MOST = 512 };

struct partners {
    int pairs[PARTNERS_MOST][2]; /* source and target of each message of a step */
    int count;                   /* 0: each rank sends to the ranks before and after it, in a ring */
};

/* Reads `partners`: source,target,source,target,...; without it none. */
bool partners_read(struct partners *partners, struct command *command, struct problem *problem);

/* Writes whom `rank` sends to and whom it receives from, in the order of the pairs, at most PARTNERS_MOST each. False
 * where a pair names a rank that is not there. */
bool partners_of(const struct partners *partners, int rank, int ranks, int *targets, int *target_count, int *sources,
                 int *source_count, struct problem *problem);

#endif
