/* What is the same for all communicators of a run: the rules, what the environment asks for, costs. */
#ifndef UNISONO_JOB_H
#define UNISONO_JOB_H

#include "rules.h"

struct job {
    bool agreed;   /* all ranks have the same library and variables (agree.h) */
    bool started;  /* the world's nodes are known: communicators can be looked at */
    bool is_on;    /* rules, or costs, choose */
    bool by_costs; /* what has no rule is chosen by the cost model */
    bool verbose;
    bool multiple;   /* MPI_THREAD_MULTIPLE on some rank */
    bool progresses; /* whatever a rank waits for in MPI, the MPI library calls us meanwhile (progress.h) */
    bool devices;    /* a rank had the driver of a device loaded at the start */
    bool has_costs;
    enum reproducible reproducible;
    struct rules rules;
    struct rules forced; /* UNISONO_FORCE: before the rules */
    struct costs costs;
};
extern struct job job;

/* Whether variables or rules of the run say what serves, or what is to be counted. */
bool job_says(void);

/* Collective over MPI_COMM_WORLD, unless it has been done; false where ranks do not agree. */
bool job_prepare(void);

#endif
