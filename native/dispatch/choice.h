/* Which implementation serves a message of a size: the rules, or the cost model, made into ranges once for a
 * communicator and a collective, so that choosing is a look into a short table. */
#ifndef UNISONO_CHOICE_H
#define UNISONO_CHOICE_H

#include "rules.h"

/* From the last range's end to `to`: the first of these that applies. */
struct range {
    int64_t to;
    int count;
    const struct implementation *implementation[RULE_WORDS];
};

/* Without ranges everything is `mpi`'s. The last range has no end. */
struct choice {
    int count;
    struct range *range;
};

/* What rules are looked up by. */
struct place {
    int nodes, ppn; /* ppn is 0 where nodes have different numbers of ranks */
    int dimensions; /* of the box that the nodes are; 0: none */
    int extent[TORUS_MOST];
    const struct topology *topology; /* which nodes are near one another, say; NULL: nobody knows */
};

/* The rule that counts there, which names the place most exactly; NULL: none. */
const struct rule *choice_rule(const struct rules *rules, enum collective collective, const struct place *place,
                               int64_t bytes);
/* Sizes without a rule are `others`', or mpi's where that is NULL. `ordered`: rules speak of algorithms that keep the order of
   a reduction, or not at all. */
void choice_from_rules(struct choice *choice, const struct rules *rules, enum collective collective,
                       const struct place *place, const struct choice *others, bool ordered);
/* Of ours for this message, by their cost models and by what they put between groups of nodes; NULL: none applies. */
const struct algorithm *choice_of_costs(const struct coll_comm *comm, enum collective collective,
                                        const struct shape *shape);
/* The same for all sizes; or mpi, where it was found to be quicker. `ordered`: of those that keep the
   order. */
void choice_from_costs(struct choice *choice, const struct coll_comm *comm, enum collective collective, bool ordered);
void choice_of_one(struct choice *choice, const struct implementation *implementation);
void choice_free(struct choice *choice);

/* NULL: mpi. */
static inline const struct range *choice_at(const struct choice *choice, int64_t bytes)
{
    int low = 0, high = choice->count;
    if (high == 0)
        return NULL;
    while (high - low > 1) {
        int middle = (low + high - 1) / 2;
        if (bytes <= choice->range[middle].to)
            high = middle + 1;
        else
            low = middle + 1;
    }
    return &choice->range[low];
}

#endif
