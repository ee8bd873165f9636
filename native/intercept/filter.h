/* Which functions are not recorded, from a file: one rule a line, `exclude PATTERN` or `include PATTERN`, the pattern
 * being a shell's for the function's C name (MPI_Test*). The last rule that matches decides; with none a function is
 * recorded. Empty lines and those that begin with # are comments. */
#ifndef UNISONO_FILTER_H
#define UNISONO_FILTER_H

#include <stdbool.h>

#include "functions.h"

/* "": no file, no rules. What cannot be read or understood is said on standard error. */
void filter_read(const char *file, bool excluded[FUNCTIONS]);

/* One line; false if it is none of the above. */
bool filter_line(const char *line, bool excluded[FUNCTIONS]);

#endif
