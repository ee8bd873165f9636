/* Whether the library may do anything together with the other ranks of this launch. */
#ifndef UNISONO_AGREE_H
#define UNISONO_AGREE_H

#include <stdbool.h>

/* After MPI_Init, once; by all ranks that have the library, without a message of MPI. True, on every rank or on none: all
 * of them have this library, the same MPI library, the same UNISONO_ variables, and something is wanted. Where something
 * is wanted and not all are alike, one rank says why in one line, and with UNISONO_REQUIRED the program ends.
 *
 * What ranks may find different and must use alike is agreed on in the same step: the size of caches (node/copy.h), whether
 * threads call MPI at the same time (job.multiple). */
bool agree_start(void);

/* The same for a program that asks by itself (unisono.h), when nothing was wanted at the start. */
bool agree_again(void);

/* Where all ranks have found that nothing will be served, for a reason that rank 0 has said: the program's end, if
 * UNISONO_REQUIRED asks for that. Collective. */
void agree_step_aside(void);

/* Whether it does. */
bool agree_is_required(void);

/* A number, in hexadecimal digits, of the sources this library was made of. */
const char *agree_sources(void);

/* Whether a variable that is the same on all ranks asks for calls to be served. */
bool agree_serves(void);

#endif
