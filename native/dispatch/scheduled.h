/* Nonblocking collectives over several nodes, by schedules of messages (../collectives/requests/schedule.h). The MPI library calls us
 * whenever it waits (progress.h), so they go on whatever the program waits for. */
#ifndef UNISONO_SCHEDULED_H
#define UNISONO_SCHEDULED_H

#include "nonblocking.h"

/* In this job: the same on all ranks. */
bool scheduled_is_allowed(void);
/* Whether calls on the communicator may be served so: the same on all ranks. Local. */
bool scheduled_is_possible(const struct comm_state *state);

/* At the same call of all ranks, which does not block: so that those after it can be served without a private communicator, the ranks
 * begin to tell one another where they receive messages. What is begun before a rank has heard waits for that. */
void scheduled_offer(struct comm_state *state);
/* Waits until this rank has heard: the communicator ends. */
void scheduled_await(struct comm_state *state);

/* As nonblocking_begin(). */
bool scheduled_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error);
/* Until those of these that are under way are complete: MPI_Waitall of MPICH (5.0.2) ends the job for a generalized request that is not,
 * beside MPI_REQUEST_NULL. */
void scheduled_await_all(int count, const MPI_Request *requests);
/* The communicator ends: waits for what is under way. */
void scheduled_end(struct comm_state *state);

#endif
