/* For tests: bytes on every link of a torus or mesh, dimension by dimension, as SimGrid routes (half-way round it goes
 * up, but for the place in the middle of the ring). */
#ifndef UNISONO_TORUS_LINKS_TEST_H
#define UNISONO_TORUS_LINKS_TEST_H

#include <stdint.h>

#include "torus/torus.h"

/* load[(place * TORUS_MOST + dimension) * 2 + (0: up, 1: down)] */
static inline void send_over(const struct torus *torus, int from, int to, int64_t bytes, int64_t *load)
{
    int at[TORUS_MOST], target[TORUS_MOST];
    torus_at(torus, from, at);
    torus_at(torus, to, target);
    for (int d = 0; d < torus->dimensions; d++) {
        int extent = torus->extent[d], half = extent / 2, here = at[d], there = target[d];
        int up = there > here;
        if (torus->wraps[d])
            up = (there > here && there <= here + half) || (here > half && (here + half) % extent >= there);
        for (; at[d] != there; at[d] = (at[d] + (up ? 1 : extent - 1)) % extent)
            load[(torus_place(torus, at) * TORUS_MOST + d) * 2 + !up] += bytes;
    }
}

static inline int64_t highest_load(const struct torus *torus, const int64_t *load)
{
    int64_t highest = 0;
    for (int i = 0; i < torus_places(torus) * TORUS_MOST * 2; i++)
        highest = load[i] > highest ? load[i] : highest;
    return highest;
}

#endif
