/* How the ranks of a node lie in it: domains within domains, which are sockets, NUMA domains and caches (bound.h).
 *
 * Depth 0 is the node, depths 1 to `count` are its domains from the outermost on, and at depth count + 1 each rank is by
 * itself. A part of the node counts where every rank of the node is bound within one, and where it divides what is
 * divided already: a processor whose sockets are its NUMA domains has one of the two, one whose sockets have a cache each
 * in common has no level of caches. */
#ifndef UNISONO_LEVELS_H
#define UNISONO_LEVELS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "bound.h"

enum { LEVELS = DIVISIONS, DEPTHS = LEVELS + 2 };

/* Of the ranks of a communicator that are all on this node; the same on all of them. */
struct levels {
    int count;      /* 0: nothing divides them */
    bool in_order;  /* the ranks of every domain follow one another */
    int *domain_of; /* [level * ranks + rank], level 0 at depth 1: domains numbered in order of their lowest ranks */
    int widest[DEPTHS][DEPTHS]; /* [i][j], i < j: the most of depth j that are in one of depth i */
    /* At what depth of the whole node those meet who are together here at this depth, no deeper. */
    int meet[DEPTHS - 1];
};

/* Collective over the ranks of this machine, with this rank's number in the world and the world's lowest rank of the
 * (perhaps pretended) node it is said to be of. Does nothing the second time. MPI error codes.
 *
 * For tests: UNISONO_FAKE_NUMA divides the ranks of every node, as UNISONO_FAKE_NODES does those of the machine;
 * "4/2": domains of four, and of two within. */
int levels_start(MPI_Comm near, int rank, int node);
/* The same for a node of so many ranks, whose numbers in the world ascend, where they are bound. False: no memory. */
bool levels_know(const int *world, const struct bound *bound, int ranks);
void levels_end(void);

/* `theirs`: the ranks' numbers in the world, all of this node. Needs levels_free(). */
void levels_find(struct levels *levels, const int *theirs, int ranks);
/* The same of all ranks of this node. */
void levels_find_all(struct levels *levels);
void levels_free(struct levels *levels);
/* The lowest rank that is with the first one at this depth, but no deeper; -1: none. */
int levels_mate(const struct levels *levels, int ranks, int depth);

/* Which depths to go through so that everybody hears of everybody soonest: `chosen` gets the first, 0, and those below
 * it; returns how many. The last of them hands out to single ranks. meet[i]: what it takes two ranks that meet at depth i
 * of the node; `more`: what each further one adds. Where `more` is 0, as nobody measured it, all of them. */
int levels_choose(const struct levels *levels, const double *meet, double more, int *chosen);

/* In words, what divides the ranks of this node. Returns what snprintf() does. */
int levels_describe(char *text, size_t bytes);

#endif
