/* Requests of persistent collectives. They are made outside of what is timed, started and waited for in each repetition, and freed when a
 * setting has had its turn. Nothing happens for other operations. */
#ifndef UNISONO_REQUESTS_H
#define UNISONO_REQUESTS_H

#include "arena.h"
#include "operation.h"

/* The buffers whose turn it is, and a request for them. Collective. Where buffers stay in the caches two requests take turns, each with
 * buffers of its own where a rank has two; else each repetition has one that was just made. */
struct slot requests_next(struct arena *arena, const struct operation *operation, MPI_Comm comm);

/* The same for the first buffers. */
struct slot requests_first(const struct arena *arena, const struct operation *operation, MPI_Comm comm);

/* Starts the one that was made, or had its turn, last, and waits for it. */
void requests_start(void);

/* Frees all. Collective. */
void requests_end(void);

#endif
