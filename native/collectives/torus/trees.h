/* Trees over the places of a torus or mesh, on which data goes down from a root (and up to it). Pure.
 *
 * Link trees: every edge is one link. On a torus of D dimensions that wraps everywhere there are 2 D of them, and no two
 * use a link in the same direction, so that together they have the bandwidth of all the root's links; each is at most
 * 1 + sum(L_i - 1) deep. Tree (i, sign) leads to a place along +-i if its coordinate i is the root's own, else along the next
 * dimension in cyclic order (i + 1, i + 2, ..., i) in which the place is off the root: whichever dimensions those are,
 * the D trees of one sign come in by D different links. (Edge-disjoint spanning trees are due to Johnsson and Ho, "Optimum
 * broadcasting and personalized communication in hypercubes", 1989; this construction for tori is ours.)
 * On a mesh there are D, dimension by dimension from another first one each; they share links.
 *
 * The short tree: dimension by dimension, each line by halving: ceil(log2 L_i) messages deep in each, no two messages of
 * one round on one link ("3D tree"). */
#ifndef UNISONO_TORUS_TREES_H
#define UNISONO_TORUS_TREES_H

#include "torus.h"

enum { TREE_CHILDREN = 64 };

/* How many link trees there are; 0 for a single place. */
int trees_count(const struct torus *torus);
/* -1 for the root. */
int tree_parent(const struct torus *torus, int tree, int root, int place);
/* At most 2 * dimensions; how many. */
int tree_children(const struct torus *torus, int tree, int root, int place, int *children);
/* Edges from the root to the farthest place, no less. */
int trees_depth(const struct torus *torus);

int short_tree_parent(const struct torus *torus, int root, int place);
/* In the order in which they are to be served. At most TREE_CHILDREN. */
int short_tree_children(const struct torus *torus, int root, int place, int *children);
int short_tree_depth(const struct torus *torus);

#endif
