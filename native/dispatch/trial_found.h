/* What was found at MPI_Init, and where: of trial.c and trial_found.c. */
#ifndef UNISONO_TRIAL_FOUND_H
#define UNISONO_TRIAL_FOUND_H

#include "trial.h"

/* From one to the next the time of a call grows about as the size; in between, factors are interpolated. */
extern const int64_t trial_sizes[TRIAL_SIZES];

extern struct trial trial_found; /* all 0 before */

/* As it is kept: between 1e-4 and 1e4. */
float trial_bounded(double factor);
/* Of each time the least of what was found before and of `latest`. */
void trial_merge(const struct trial *latest);

/* Whether the MPI library's own is tried beside ours: the last of a task. */
bool trial_has_rival(enum collective collective);
/* Its place in the table. */
int trial_rival_of(enum collective collective);

#endif
