/* Point-to-point messages, one by one, with --split-waiting: what the reader needs to pair each send with its receive and
 * to tell a late sender and a late receiver from the transfer.
 *
 * The log is a prefix of all that the rank sent and received, in the order in which it was posted. MPI lets no message
 * overtake another with the same communicator, source, destination and tag, so the n-th send of them in one rank's log is
 * what the n-th receive in the other's got. Whatever cannot be logged closes the log: nothing after it would be paired
 * rightly. Nothing is sent for it and no matching changes. */
#ifndef UNISONO_MESSAGE_H
#define UNISONO_MESSAGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm.h"
#include "ticks.h"

enum { MESSAGES_MOST = 1 << 18, MESSAGES_WAITED = 4096, MESSAGE_SEND = 0, MESSAGE_RECEIVE = 1 };
#define MESSAGE_NO_CELL UINT32_MAX

/* The record of the file (README.md), with times in ticks until it is written. */
struct message {
    uint64_t posted;
    uint64_t begin; /* of the call that completed it */
    uint64_t end;   /* 0: that call is not known, or did not wait */
    uint64_t comm;
    uint32_t cell; /* of that call */
    int32_t peer;  /* in MPI_COMM_WORLD */
    int32_t tag;
    uint32_t kind;
};
_Static_assert(sizeof(struct message) == 48, "the file's record has no holes");

struct messages {
    struct message *log; /* NULL: nothing is logged in this run */
    uint32_t count;
    bool open;
};
extern struct messages messages;

/* At MPI_Init, when comms has started. Without memory nothing is logged. */
void message_start(void);

/* Nothing more is logged. */
static inline void message_close(void)
{
    messages.open = false;
}

/* Forget what was logged: its cells are forgotten. */
void message_reset(void);

/* A communicator was made by all its members together. */
void message_made(MPI_Comm comm);

/* A message of a call that began and ended so; `request` is MPI_REQUEST_NULL if the call completed it. */
void message_add(uint32_t kind, const struct group *group, MPI_Comm comm, int peer, int tag, uint64_t begin, uint64_t end,
                 uint32_t cell, MPI_Request request);

/* Before and after a call that completes requests; `requests` as the language has them. */
void message_look(int count, const void *requests, bool fortran);
void message_completed(int count, const void *requests, bool fortran, bool waits, uint64_t begin, uint64_t end,
                       uint32_t cell);

#endif
