/* In which order everybody sends to everybody on a torus or mesh ("simple spread", "double spread"). Pure.
 *
 * At each step all places send by the same offset, so that every link of a direction carries the same; offsets go from
 * near to far; those that follow one another are each other's mirror images and turns (x y z -> y z x -> z x y), so that a
 * few of them together load all directions alike. This is how we read Fujitsu (2014); see docs/simulated-torus.md.
 *
 * Balance: half-way round a dimension of even extent both ways are equally short, but routers take one of them for all
 * (or most) messages, and its links carry (L/2 + 1) / (L/2) of what they need to, or more. So of L >= 6, nobody sends half
 * the way round: the first half of such a block goes with the message for the next place up and on from there with that
 * place's own message, the second half likewise by the next place down. There are fewer messages than without, and links
 * are loaded exactly to the bisection bound, however the router decides. */
#ifndef UNISONO_TORUS_SPREAD_H
#define UNISONO_TORUS_SPREAD_H

#include "torus.h"

/* All offsets but 0, places - 1 of them. */
void spread_order(const struct torus *torus, int *offsets);
/* The same for a double spread: offsets in pairs, each followed by its opposite; a place that is opposite to itself
   stands alone, where its turn is. */
void spread_order_double(const struct torus *torus, int *offsets);

/* The dimensions (a bit each) in which an offset is half-way round, of those where that can be balanced. */
unsigned spread_halfway(const struct torus *torus, int offset);

enum { SPREAD_PARTS = 2 << TORUS_MOST };

/* One half of a block that goes on by another place. */
struct spread_relayed {
    int from;   /* offset from that place to where the block began */
    int offset; /* of the whole way, from there; spread_halfway(offset) != 0 */
    int half;   /* 0: the first, 1: the second */
};
/* What is sent on with the message of an offset (that is not itself half-way). How many. */
int spread_relayed(const struct torus *torus, int offset, struct spread_relayed relayed[SPREAD_PARTS]);
/* The dimensions in which the offset is one step up (*half is then 0) or in all of them down (1), if it is 0 in the
   others: with its message go the halves of all blocks whose offsets are half-way in just these. 0: none go. */
unsigned spread_bundle(const struct torus *torus, int offset, int *half);

#endif
