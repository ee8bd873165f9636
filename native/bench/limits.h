/* `limits`: what the machine itself can do, measured without MPI between the ranks of the first node. */
#ifndef UNISONO_LIMITS_H
#define UNISONO_LIMITS_H

#include "bench.h"

/* Collective. Rank 0 answers one line. False, with the sentence on rank 0, when the command is wrong. */
bool limits_command(struct bench *bench, struct command *command, struct problem *problem);

#endif
