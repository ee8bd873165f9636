/* Nonblocking collectives that are under way, and persistent ones that were started: whose requests are theirs, and where the call that began each is counted.
 *
 * A pool of entries, found by their requests' handles. Who completes requests takes out those it waits for, and puts back
 * what it did not complete: while they are out nobody finds them, so that a handle which the MPI library gives to the next
 * request as soon as one is complete is never taken for the old one. Nothing here depends on what MPI does. */
#ifndef UNISONO_PENDING_H
#define UNISONO_PENDING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { PENDING_MOST = 2048, PENDING_NONE = 0xffff, PENDING_COMMON = 4 };

/* Where a call is counted. */
struct origin {
    uint32_t cell;  /* of the table of ... */
    uint32_t slab;  /* this number (record.h) */
    uint32_t epoch; /* `cell` is of another call when all calls have been forgotten since */
};

struct pending {
    MPI_Request handle;
    struct origin origin;
    bool persists;   /* its handle stays when it is complete */
    int32_t place;   /* while it is out: among the requests of the call that took it out, */
    uint32_t active; /* of which so many are not MPI_REQUEST_NULL (of the first in its list), */
    uint32_t epoch;  /* and which began then (likewise; see origin) */
    uint16_t next;   /* in its chain of the table, of those that are out, or of those that are free */
};

/* At MPI_Init. `shared`: several threads at a time. */
void pending_start(bool shared);

/* Handles that stand for more than one request (an MPI may give one to all that are complete when the call returns). */
void pending_is_common(MPI_Request handle);

/* In the table; those that are out do not count. */
extern uint32_t pending_count;
/* Begun when the pool was empty: how long the program waits for them is not known. */
extern uint64_t pending_lost;

void pending_add(MPI_Request handle, const struct origin *origin, bool persists);

/* Take it out, to the head of a list; whether it was there. */
bool pending_take(MPI_Request handle, int32_t place, uint16_t *list);

/* The entry of a number in such a list. */
struct pending *pending_at(uint16_t number);

/* Of an entry that is out: back into the table, or no more under way. */
void pending_back(uint16_t number);
void pending_free(uint16_t number);

#endif
