/* The order of the substitutions: nodes of one colour do not depend on one another, colours follow one another.
 *
 * Every ordering is told as colours, so there is one way to sweep. Natural order and reverse Cuthill-McKee have as many
 * colours as levels, multicolour 8, CM-RCM (Nakajima: levels taken cyclically) as many as asked, or more. */
#ifndef UNISONO_SOLVER_ORDER_H
#define UNISONO_SOLVER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "mesh.h"

enum ordering { ORDER_NATURAL, ORDER_RCM, ORDER_MULTICOLOUR, ORDER_CMRCM, ORDERINGS };
extern const char *const ordering_names[ORDERINGS];

/* Numbers that follow one another: of one thread, one colour and one level. */
struct run {
    int32_t from, to;
    int32_t level, colour;
};

struct order {
    int colours, threads, levels; /* levels of Cuthill-McKee; 0 where there are none */
    int32_t *colour;              /* of an owned node, by its number in the mesh */
    int32_t *number;              /* mesh's number -> number in vectors and matrix; external nodes keep theirs */
    int32_t *node;                /* the other way; owned nodes */
    int32_t *first;               /* [colour * threads + thread] -> first number; the end is in `last` */
    int32_t *last;
    int32_t *level;   /* of an owned node, by its number in the mesh: adjacent ones are few levels apart */
    struct run *run;  /* thread by thread, each thread's level by level: what is near in the mesh is near in time */
    int *runs;        /* [thread] -> its first; threads + 1 */
    struct run *wave; /* one thread's in a sequence for the sweeps (walk.h), as many as `run`. NULL: several threads */
};

/* The numbers of a colour that are thread's. */
struct range {
    int32_t from, to;
};

static inline struct range order_share(const struct order *order, int colour, int thread)
{
    const int at = colour * order->threads + thread;
    return (struct range){order->first[at], order->last[at]};
}

/* `colours`: wanted of CM-RCM; raised until adjacent nodes never share one. `contiguous`: the nodes of a thread are
 * numbered one after the other (Nakajima 2009, figure 3), otherwise those of a colour. False: no memory. */
bool order_create(struct order *order, const struct mesh *mesh, enum ordering ordering, int colours, int threads,
                  bool contiguous);
void order_free(struct order *order);

#endif
