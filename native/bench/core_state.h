/* `state`: how fast the cores of this launch reach each other now. A virtual machine's host may move its processors
   between two seconds; what is measured before and after such a move cannot be compared. */
#ifndef UNISONO_CORE_STATE_H
#define UNISONO_CORE_STATE_H

#include "bench.h"

/* Collective. Rank 0 answers one line: the time of an exchange by flags, of the node where it takes longest. */
bool core_state_command(struct bench *bench, struct command *command, struct problem *problem);

void core_state_end(struct probe *probe);

#endif
