/* Postal trees by messages: how many messages are under way at once follows from the costs that all ranks have in common, so that
 * all come to the same tree. */
#ifndef UNISONO_GROUP_POSTAL_TREE_H
#define UNISONO_GROUP_POSTAL_TREE_H

#include "group.h"
#include "postal.h"

#define POSTAL_REFERENCE                                                                                               \
    "Bar-Noy, Kipnis: Designing broadcasting algorithms in the postal model for message-passing systems (1992)"

/* Of a vector of so many bytes that everybody passes on, or (`combines`) combines with what else has come first. Fills
   `postal`; what it takes, in seconds. */
double group_postal(const struct coll_comm *comm, int members, int64_t bytes, bool combines, struct postal *postal);

int group_bcast_postal(const struct group *group, int root, void *data, int64_t bytes);
/* In order of the members' numbers, where the operation is not commutative. `send` and `receive` may be equal. */
int group_reduce_postal(const struct group *group, int root, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction);
/* Vectors that the second takes on the member that takes most. */
int group_reduce_postal_vectors(const struct coll_comm *comm, int members, int64_t bytes);

#endif
