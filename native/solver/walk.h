/* In what sequence threads go through their numbers: memory and arithmetic do not change, only what is in the cache.
 *
 * Colour by colour, a product or a sweep reads all of a vector for each colour, from memory once it is larger than the
 * cache. Neighbours lie a few levels apart (`reach`), so level by level a vector is read once. A sweep has to take colour
 * c before c + 1 among neighbours, but not everywhere: level l of colour c at the time l + (reach + 1) c does. */
#ifndef UNISONO_SOLVER_WALK_H
#define UNISONO_SOLVER_WALK_H

#include "order.h"

/* Fills in run, runs and wave of an order whose numbers and levels are there. False: no memory. */
bool walk_create(struct order *order, const struct mesh *mesh);

#endif
