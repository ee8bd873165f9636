/* Error handlers of a communicator, and calls with a mistake. */
#ifndef UNISONO_TEST_MANNERS_H
#define UNISONO_TEST_MANNERS_H

#include "calls.h"

void manners_start(void);
void manners_end(void);

/* Each rank draws its own handler: MPI_ERRORS_RETURN, or one of the program. */
void manners_draw(struct trial *trial);
void manners_restore(struct trial *trial);

/* A call that MPI forbids, alike on all ranks: the library underneath and the one under test say the same of it, to the
 * same handler. */
bool manners_mistake(struct trial *trial);

#endif
