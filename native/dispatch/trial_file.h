/* What a trial found is kept for the next run: a file in the folder unisono/trials of the user's cache ($XDG_CACHE_HOME, else
 * ~/.cache), for each host, MPI library and number of ranks. What is of another CPU, kernel or version of this library is
 * not read and is replaced. It may be deleted at any time. */
#ifndef UNISONO_TRIAL_FILE_H
#define UNISONO_TRIAL_FILE_H

#include "trial.h"

/* False: there is none, or it is older than 30 days, or damaged. */
bool trial_read(struct trial *trial, int ranks);
/* Where it cannot be written, it is not. */
void trial_write(const struct trial *trial, int ranks);

#endif
