/* What to run next within one `measure`: rank 0's decisions, as a state machine fed with results. Pure: the caller
   brings the time and the measurements.

   Every setting is checked, then warmed up, which also tells how long it takes, then measured in blocks in which all
   settings take turns, each block in another order, so that drift of the machine and what a setting leaves behind hit all alike. Repetitions lost because a rank
   came late are made up for, within reason; as long as there is time when there are not even the fewest asked for. */
#ifndef UNISONO_PLANNER_H
#define UNISONO_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

#include "problem.h"

enum { PLANNER_BATCH = 256 }; /* repetitions whose times are gathered in one go */

struct request {
    int64_t time;     /* ns each setting should get in all */
    int64_t deadline; /* ns for the whole measure */
    int min_reps, max_reps, blocks;
    bool check;
};

enum order_kind { ORDER_CHECK, ORDER_RUN, ORDER_FINISH };

/* What all ranks do next. */
struct order {
    enum order_kind kind;
    int index;         /* of the setting */
    int skip, count;   /* repetitions not looked at, repetitions recorded */
    bool warm_up;      /* the times only serve to plan */
    int64_t slack;     /* ns from "everybody is here" to the agreed start */
    int64_t tolerance; /* ns after the agreed start at which a rank is late */
    int64_t limit;     /* ns after which no further repetition is begun: something holds ranks up */
};

/* What came of ORDER_RUN. */
struct outcome {
    int count;                      /* repetitions recorded: those ordered, or less at the limit; at least 1 */
    int64_t times[PLANNER_BATCH];   /* completion, ns */
    int64_t spreads[PLANNER_BATCH]; /* last entry - first entry, ns */
    int64_t insides[PLANNER_BATCH]; /* ns that a rank was inside the operation, mean over ranks */
    bool late[PLANNER_BATCH];
    int64_t wall; /* ns for the batch with everything around it */
};

struct subject {
    int target, valid, attempts, discarded;
    int block_left; /* repetitions still to do in the current block; -1 before it began */
    int64_t cycle;  /* ns per repetition with everything around it, in the quickest batch so far */
    int64_t spent;  /* ns, warm-up left out */
    int64_t typical;
    int64_t *times, *spreads, *insides; /* `valid` of them */
    bool checked;
    struct problem wrong;   /* the result was wrong */
    struct problem refused; /* not measured */
};

struct planner {
    struct request request;
    struct subject *subjects;
    int count;
    int phase, block, position;
    int64_t begin;
    int64_t slack, slack_most;
    int64_t clock_error;
};

bool planner_begin(struct planner *planner, const struct request *request, int settings, int64_t now, int64_t slack,
                   int64_t clock_error, struct problem *problem);
void planner_next(struct planner *planner, int64_t now, struct order *order);
void planner_take(struct planner *planner, const struct order *order, const struct outcome *outcome);

/* What came of ORDER_CHECK: the sentence if the result was wrong, and how long the operation took the first time. */
void planner_take_check(struct planner *planner, const struct order *order, const struct problem *wrong, int64_t took);
void planner_end(struct planner *planner);

#endif
