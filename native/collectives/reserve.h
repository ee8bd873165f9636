/* Memory that setting up cannot do without: where one rank alone had none, the others would wait for it for ever.
 *
 * A part is put by at the start, when all ranks can still agree that there is none. Once a rank has had to take of it, that
 * rank refuses new private communicators on behalf of all (peers.h), so that little more is needed. Where the reserve ends
 * too, the program ends, after a line. */
#ifndef UNISONO_RESERVE_H
#define UNISONO_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* For a job of so many ranks. False: no memory. */
bool reserve_start(int ranks);

/* Whether memory has been short since. */
bool reserve_is_touched(void);

/* Zeros; never NULL. */
void *reserve_get(size_t bytes);
/* Instead of free(). */
void reserve_put(void *memory);

#endif
