/* Where messages of calls that do not block go (parts.h): on the private communicator that serves the call, or, where its ranks have
 * none, on that of MPI_COMM_WORLD, where each communicator has a tag of its own. */
#ifndef UNISONO_BY_MESSAGE_H
#define UNISONO_BY_MESSAGE_H

#include "collectives.h"

enum { KEPT_TAGS = 1 << 18 };

/* Once: the world's; NULL: there is none, on all ranks. */
void by_message_start(const struct coll_comm *world);

/* By who offers memory for calls on a communicator without a private one: what tells its messages from others'. 0: none is left. */
int64_t by_message_number(void);

/* The first of the tags that nothing else has, half of what the MPI library knows: for schedules (../collectives/requests/schedule.h). -1:
 * it knows too few; the same on all ranks. */
int by_message_tags(void);
/* The first of the last KEPT_TAGS of these: of persistent collectives over several nodes (lasting.h). */
int by_message_kept_tags(void);
/* MPI_COMM_WORLD's private communicator; MPI_COMM_NULL: none, on all ranks. */
MPI_Comm by_message_world(void);

/* Whether there are any for calls that are served on `posted`: the same on all of its ranks. */
bool by_message_is_there(const struct coll_comm *posted);
/* Where they go, once posted->posts has memory; the ranks there, NULL: the same ones. */
const int *by_message(const struct coll_comm *posted, struct fabric *fabric);

#endif
