/* `measure`: several settings of one operation and size, interleaved. */
#ifndef UNISONO_MEASURE_H
#define UNISONO_MEASURE_H

#include "bench.h"

/* Collective. Rank 0 answers a line per setting. False, with the sentence on rank 0, when the command is wrong. */
bool measure_command(struct bench *bench, struct command *command, struct problem *problem);

#endif
