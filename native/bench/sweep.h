/* Empties the caches between repetitions: every rank reads through memory of its own. */
#ifndef UNISONO_SWEEP_H
#define UNISONO_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

struct sweep {
    const char *base;
    size_t mapped;
};

/* Maps `bytes`, and touches them, or pages that nobody wrote would all be one; what is there already stays. */
bool sweep_prepare(struct sweep *sweep, size_t bytes, struct problem *problem);

/* Reads every cache line of it. */
void sweep_caches(const struct sweep *sweep);

void sweep_free(struct sweep *sweep);

#endif
