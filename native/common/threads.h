/* How many threads may call MPI at a time. A session (MPI 4) has a level of its own, which MPI_Query_thread need not know of: Open MPI 5
 * says there what MPI_Init was asked for. */
#ifndef UNISONO_COMMON_THREADS_H
#define UNISONO_COMMON_THREADS_H

#include <stdbool.h>

/* MPI_THREAD_MULTIPLE, too, once a session was opened with which threads may call MPI while others do. After MPI_Init. */
int threads_level(void);

/* A session was opened that has this level. */
void threads_session(int level);

/* Whether this process has opened one. Its communicators outlive MPI_Finalize, and what goes on in them does. */
bool threads_has_session(void);

#endif
