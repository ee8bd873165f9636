/* How ranks come to the MPI library's own MPI_Finalize. */
#ifndef UNISONO_LEAVE_H
#define UNISONO_LEAVE_H

#include <stdbool.h>

/* The last step before it, collective over all ranks of MPI_COMM_WORLD; `agreed`, alike on all of them, says that all have
 * this library. Nothing is done but with an MPI library that needs it.
 *
 * MPICH before 4.2 over UCX ends in two steps: a rank takes its connections down, which takes answers from the ranks at
 * their other ends, and waits in PMI's barrier, where it answers nobody. A rank that was answered by one that was not
 * there yet goes on to the barrier, and the other waits for it for ever (github.com/pmodels/mpich, pull request 6596, which
 * 4.2 has). Preloaded, this library makes that more frequent, since ranks that had nothing to say to one another are
 * connected. So no rank begins before all have come and stopped answering. */
void leave_together(bool agreed);

/* Whether an MPI library that says this of itself (MPI_Get_library_version) needs it. */
bool leave_is_needed(const char *library);

#endif
