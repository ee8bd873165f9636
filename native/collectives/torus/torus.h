/* Boxes of nodes on a torus or mesh: places, their neighbours, the routes between them. Pure.
 *
 * A place is a number, the first dimension varying fastest: place = x + X (y + Y z). An offset is the place that one gets
 * to from place 0: adding it to a place goes so far in every dimension, modulo the extents (also where the box does not
 * wrap: every offset is a permutation of the places, which is what exchanges need). */
#ifndef UNISONO_TORUS_H
#define UNISONO_TORUS_H

#include <stdbool.h>
#include <stdint.h>

enum { TORUS_MOST = 6 };

struct torus {
    int dimensions;         /* 0: a single place */
    int extent[TORUS_MOST]; /* in a cuboid each more than 1 */
    bool wraps[TORUS_MOST]; /* whether the last is a neighbour of the first */
};

int torus_places(const struct torus *torus);
void torus_at(const struct torus *torus, int place, int at[TORUS_MOST]);
int torus_place(const struct torus *torus, const int at[TORUS_MOST]);
/* place + sign * offset, sign being 1 or -1. */
int torus_add(const struct torus *torus, int place, int offset, int sign);
/* One step along a dimension, modulo its extent. */
int torus_step(const struct torus *torus, int place, int dimension, int sign);
/* How far an offset goes in a dimension the shorter way: -L/2 < distance <= L/2 where it wraps, else as it is. */
int torus_distance(const struct torus *torus, int offset, int dimension);
/* Steps of the shortest way of an offset, all dimensions together. */
int torus_hops(const struct torus *torus, int offset);
bool torus_wraps(const struct torus *torus); /* in every dimension */

/* The nodes of a communicator that are every place of a box, once. */
struct cuboid {
    struct torus torus;  /* its own extents; those of 1 are left out; wraps where it has the machine's whole extent */
    const int *node_at;  /* place -> node of the communicator */
    const int *place_of; /* and back */
};

/* at[node]: places on the machine, -1 if unknown; the nodes may be any. False when they are no box: then *cuboid is
 * zeroed. Also when memory is short. A box may reach over the edge of a dimension that wraps. */
bool cuboid_create(struct cuboid *cuboid, const struct torus *machine, const int *at, int nodes);
void cuboid_free(struct cuboid *cuboid);

#endif
