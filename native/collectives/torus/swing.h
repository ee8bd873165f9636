/* Whom one exchanges with at each step of Swing: peers hop back and forth, so that far ones come when little is left to
 * send. Pure.
 *
 * D. De Sensi, T. Bonato, D. Saam, T. Hoefler, "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024. On a
 * ring of p = 2^k places, at step s place r exchanges with r + rho (r even) or r - rho (r odd), rho = (1 - (-2)^(s+1)) / 3;
 * on a torus dimensions take turns. Parts of the vector begin with different dimensions and directions, so that all ports
 * are used. */
#ifndef UNISONO_TORUS_SWING_H
#define UNISONO_TORUS_SWING_H

#include "torus.h"

/* All extents are powers of two. */
bool swing_applies(const struct torus *torus);
/* log2 of the places. */
int swing_steps(const struct torus *torus);
/* 2 * dimensions: parts that go different ways. */
int swing_ways(const struct torus *torus);
int swing_peer(const struct torus *torus, int way, int step, int place);
/* The number of the part, of `places` equal ones, that `place` has combined after all steps. Its highest bit says which
   half of the vector it keeps at step 0, and so on. */
int swing_part(const struct torus *torus, int way, int place);

#endif
