/* The command line of unisono-solver. */
#ifndef UNISONO_SOLVER_OPTIONS_H
#define UNISONO_SOLVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "choose.h"
#include "order.h"
#include "problem.h"

struct options {
    int64_t nodes[3];
    int parts[3]; /* all 0: chosen */
    enum ordering ordering;
    int colours, limit, threads; /* threads 0: as OpenMP says */
    int beside;                  /* iterations between measurements of the bandwidth; 0: none */
    double tolerance, young, poisson, stress;
    bool threaded_packing, contiguous, first_touch, bandwidth, json, help;
    struct wish wish; /* of kernels and how they ask for memory */
};

/* False with a sentence that says what is wrong and what would be right. */
bool options_read(struct options *options, int argc, char **argv, struct problem *problem);
extern const char options_help[];

#endif
