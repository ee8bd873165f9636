/* What a run of the solver was and took, for people or as one JSON object; by rank 0, gathered from all. */
#ifndef UNISONO_SOLVER_REPORT_H
#define UNISONO_SOLVER_REPORT_H

#include "cg.h"
#include "choose.h"
#include "options.h"

struct result {
    struct outcome outcome;
    double setup_seconds;
    struct rates bandwidth[2]; /* before and after */
    double error;              /* largest difference from the exact solution, relative to the largest displacement */
    int threads;
    struct choice choice; /* of the kernels */
    const double *history;
};

/* Collective. */
void report_print(const struct options *options, const struct system *system, const struct result *result);

#endif
