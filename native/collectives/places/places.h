/* Which nodes are near one another: behind the same switches, in the same cell of a dragonfly. Between such groups there are fewer
 * links than to the nodes, and other jobs use them, too. */
#ifndef UNISONO_PLACES_H
#define UNISONO_PLACES_H

#include "crossing.h"
#include "switches.h"

/* Of one communicator; the same on all its ranks. */
struct places {
    int nodes;
    const int *node;  /* place -> node: those of a group follow one another, groups in order of their lowest nodes */
    const int *place; /* node -> place */
    int levels;       /* at least one; the outermost first, and only those at which groups differ */
    const int *group[SWITCH_LEVELS]; /* place -> group, numbered in order of places */
    int groups[SWITCH_LEVELS];
    int widest[1 + SWITCH_LEVELS]; /* the most groups of a level in one further out; last, nodes in an innermost one */
    bool in_order;                 /* every node is at its own number's place */
    double taper;
    struct crossings *crossings; /* what algorithms put on the links between groups: counted when asked for */
};

/* `addresses`, by node, are all known. NULL: they are all in one group. */
struct places *places_create(const struct address *addresses, int nodes, double taper);
void places_free(struct places *places);

#endif
