/* UNISONO_VERBOSE=1: which implementation served how many calls of which size. */
#ifndef UNISONO_VERBOSE_H
#define UNISONO_VERBOSE_H

#include "implementation.h"

void verbose_count(const struct implementation *implementation, int64_t bytes);

/* The calls of this process as a table on standard error. */
void verbose_print(void);

#endif
