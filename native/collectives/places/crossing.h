/* What collectives put on the links between groups of nodes (places.h), found by counting the messages of their schedules among the
 * nodes of this communicator: the bytes that cross from one group into another, and those on the fullest of these ways. */
#ifndef UNISONO_CROSSING_H
#define UNISONO_CROSSING_H

#include <stdbool.h>

/* Who sends what to whom, one rank of each node. Pairs of partners are a power of two: members beyond that give what they have to
 * a neighbour first, and get from it last. `All` is the vector of a bcast, reduce, allreduce or reduce_scatter, or all that
 * an allgather collects. Those with a root have it on the first node. */
enum crossing_kind {
    CROSSING_TREE,             /* binomial tree, largest subtrees first: all to every node */
    CROSSING_TREE_4,           /* the same with three children at a time */
    CROSSING_TREE_DOUBLING,    /* binomial tree, smallest subtrees first: not one of ours, to compare with */
    CROSSING_BINARY,           /* complete binary tree in breadth-first order: all to every node */
    CROSSING_TWO_TREES,        /* two binary trees: half of it to every node in each */
    CROSSING_NEAR_TREES,       /* the same, over groups first where nodes are in order of places */
    CROSSING_CHAIN,            /* all from each node to the next */
    CROSSING_LINE,             /* the same, and back */
    CROSSING_RING,             /* to the next node, but for the own part: all */
    CROSSING_SCATTER,          /* down a binomial tree, each node the parts of its subtree */
    CROSSING_DOUBLING,         /* all to partners at distances 1, 2, 4 ... */
    CROSSING_HALVING,          /* 1/2, 1/4 ... to partners at distances 1, 2 ..., and the same back: an allreduce */
    CROSSING_FAR,              /* an allgather: 1/n to partners at distances 1/2, 2/n at 1/4 ... of the nodes */
    CROSSING_NEAR,             /* the same the other way round: a reduce_scatter */
    CROSSING_HALVING_FAR,      /* 1/2, 1/4 ... to partners at distances 1/2, 1/4 ... of the nodes: a reduce_scatter */
    CROSSING_HALVING_FAR_BACK, /* the same, and back; not one of ours, to compare with */
    CROSSING_GROWING,          /* 1/n, 2/n, 4/n ... to partners at distances 1, 2, 4 ...; of a power of two nodes */
    CROSSING_BRUCK,            /* 1/n, 2/n, 4/n ... to nodes 1, 2, 4 ... before */
    CROSSING_PAIRS,            /* 1/n from each to each other */
    CROSSING_BINE_TREE,        /* Bine tree, farthest first: all to every node; not one of ours, to compare with */
    CROSSING_BINE,             /* 1/2, 1/4 ... along Bine butterflies, near partners first: a reduce_scatter */
    CROSSING_BINE_GATHER,      /* the same the other way round: an allgather */
    CROSSING_BINE_BACK,        /* there and back: an allreduce */
    CROSSING_KINDS
};

struct crossing {
    double total; /* bytes that leave a group, for each byte of `all`; of the outermost groups */
    double
        fullest; /* bytes out of a group or into it, for each byte of `all` and for each node of that group: the most of all groups */
};

struct places;
struct crossings;

/* NULL: everything is in one group, and nothing crosses. `near`: nodes in order of their places, else of their numbers. */
struct crossing crossing_of(const struct places *places, enum crossing_kind kind, bool near);

struct crossings *crossings_create(void);
void crossings_free(struct crossings *crossings);

#endif
