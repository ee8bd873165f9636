/* Which kernels, which hint for what will be read, and how far ahead: measured when the solver starts.
 *
 * What is right on one processor costs half of the speed on another (docs/solver.md), so no choice is known by heart.
 * Every way gets turns in a product with the solver's own matrix, all threads and processes of a node at once; the
 * slowest process decides, and plain (no hint) stays unless another way is the quicker. All ways that are compared
 * give the same bits. It takes at most 0.15 s, or one turn of each way (4 MB a thread) where that is longer. */
#ifndef UNISONO_SOLVER_CHOOSE_H
#define UNISONO_SOLVER_CHOOSE_H

#include "cg.h"

/* What the command line fixes. */
struct wish {
    int form, hint; /* -1: to be measured */
    int ahead;      /* bytes; 0: to be measured, if there is a hint */
};

/* Where `ahead` may lie: from a cache line to a page or several. */
enum { AHEAD_LEAST = 64, AHEAD_MOST = 65536 };

struct way {
    enum form form;
    enum hint hint;
    int ahead;
    double rate; /* bytes a second of the slowest process; 0: not measured */
};

enum { WAYS_MOST = 32 };

struct choice {
    struct kernels kernels;
    const char *how; /* "measured", "given", or "not measured: " and why: then it is the first way */
    double seconds;  /* it took */
    int rounds;
    int ways;
    struct way way[WAYS_MOST]; /* on this node; the first is plain unless a hint is given */
    bool is_same;              /* on all nodes */
};

/* Whether the processor has what is wished for. */
bool choose_is_possible(const struct wish *wish);

/* The same on all processes of a node. Collective; the matrix is there, system's kernels and halo are not used. */
void choose_kernels(const struct system *system, const struct wish *wish, bool first_touch, struct choice *choice);

#endif
