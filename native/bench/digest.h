#ifndef UNISONO_DIGEST_H
#define UNISONO_DIGEST_H

#include "bench.h"

bool digest_command(struct bench *bench, struct command *command, struct problem *problem);

#endif
