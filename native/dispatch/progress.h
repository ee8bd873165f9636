/* To be called by the MPI library whenever it waits, so that nonblocking collectives of several steps go on while the program is in
 * any call of MPI: MPI wants that a nonblocking collective ends once all have begun it, though another rank waits for a message meanwhile
 * (MPI 4.1, 3.7.4 and 6.12). No call of the standard asks for it; Open MPI's own nonblocking collectives (coll/libnbc) use
 * opal_progress_register, which it exports; MPICH from 4.3 on has MPIX_Async_start. */
#ifndef UNISONO_PROGRESS_H
#define UNISONO_PROGRESS_H

#include <stdbool.h>

/* Whether this MPI library can. */
bool progress_is_there(void);
/* From now on: `move` returns how many have ended. It is not called while it is under way. Does nothing the second time. */
void progress_begin(int (*move)(void));
void progress_end(void);

#endif
