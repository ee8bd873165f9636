/* The rules file: what the tuning found to be best, one rule a line.
 *
 *     unisono-rules 1
 *     # a comment
 *     cost node_latency 1.2e-07 node_byte 1.1e-10 fabric_latency 2e-06 fabric_byte 1e-10
 *     reproducible placement
 *     COLLECTIVE NODES[@AxBxC...] PPN FROM TO IMPLEMENTATION[{,|}IMPLEMENTATION...]
 *
 * NODES, PPN: a number, or `*`; @: they are such a box of a torus or mesh. FROM to TO (`max`: no end): message sizes in
 * bytes as IMB counts them, both included. Of the implementations, the first that applies; `A|B`: the study found both
 * equally fast, so where groups of nodes are known (places.h), the one that puts fewer bytes between them comes first. `cost`:
 * seconds, and seconds a byte, for the cost model. `reproducible`: runs, placement or ranks (ordered.h). */
#ifndef UNISONO_RULES_FILE_H
#define UNISONO_RULES_FILE_H

#include <stdint.h>

#include "implementation.h"

enum { ANY = -1, RULE_WORDS = 8 };

struct rule {
    enum collective collective;
    int nodes, ppn; /* ANY, or the number */
    int dimensions; /* of the box that the nodes must be, extents of 1 left out; 0: any place will do */
    int extent[TORUS_MOST];
    int64_t from, to;
    int count;
    const struct implementation *implementation[RULE_WORDS];
    bool as_fast[RULE_WORDS]; /* as the one before it */
};

/* Of reductions: what their results may depend on (ordered.h). */
enum reproducible { REPRODUCIBLE_NOT, REPRODUCIBLE_RUNS, REPRODUCIBLE_PLACEMENT, REPRODUCIBLE_RANKS, REPRODUCIBLES };

struct rules {
    struct rule *rule;
    int count, room;
    bool has_costs;
    struct costs costs;
    enum reproducible reproducible;
};

/* Reads the whole text, which need not end in '\0'. False when it is bad: `line` (from 1) has `problem`, and there are no
 * rules. */
bool rules_parse(struct rules *rules, const char *text, size_t length, int *line, struct problem *problem);
void rules_free(struct rules *rules);

/* REPRODUCIBLES: no such word. */
enum reproducible rules_reproducible(const char *word);

/* "bcast=unisono/pull,allreduce=mpi": one rule for each, for everything. */
bool rules_parse_forced(struct rules *rules, const char *text, struct problem *problem);

#endif
