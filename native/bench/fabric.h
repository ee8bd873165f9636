/* `fabric` and `compute`: nodes against one another, one rank of each: messages of pairs of them, and their processors.
   Which pairs, and what the times mean, is the driver's affair. */
#ifndef UNISONO_FABRIC_H
#define UNISONO_FABRIC_H

#include "bench.h"

/* Collective. Rank 0 answers one line. False, with the sentence on rank 0, when the command is wrong. */
bool fabric_command(struct bench *bench, struct command *command, struct problem *problem);
bool compute_command(struct bench *bench, struct command *command, struct problem *problem);

#endif
