/* How late ranks come to a repetition: what a profile told of a program, replayed. Pure. */
#ifndef UNISONO_ARRIVAL_H
#define UNISONO_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

enum { ARRIVAL_MOST = 256 };

struct arrival {
    int64_t each[ARRIVAL_MOST]; /* ns after the start; rank r of n has number r * count / n */
    int count;                  /* 0: all come at the start */
    int64_t drawn;              /* ns that one rank, another in each repetition, comes later still */
    uint64_t seed;              /* by which that rank is drawn */
};

/* Reads late_ns, late_drawn_ns and seed; without them all come at the start. */
bool arrival_read(struct arrival *arrival, struct command *command, struct problem *problem);

static inline bool arrival_any(const struct arrival *arrival)
{
    return arrival->count > 0 || arrival->drawn > 0;
}

/* ns after the start at which a rank begins this repetition. */
int64_t arrival_of(const struct arrival *arrival, int rank, int ranks, uint64_t repetition);

/* The same of the rank that comes last. */
int64_t arrival_last(const struct arrival *arrival, int ranks, uint64_t repetition);

#endif
