/* Point-to-point messages, one by one, with --split-waiting: what the reader needs to pair each send with its receive and
 * to tell a late sender and a late receiver from the transfer.
 *
 * The log is a prefix of all that the rank sent and received, in the order in which it was posted. MPI lets no message
 * overtake another with the same communicator, source, destination and tag, so the n-th send of them in one rank's log is
 * what the n-th receive in the other's got. That holds for receives from any source or with any tag, too, once it is
 * known what they got: messages of one source and tag match receives in the order of their posting. Whatever cannot be
 * logged closes the log: nothing after it would be paired rightly. Nothing is sent for it and no matching changes. */
#ifndef UNISONO_MESSAGE_H
#define UNISONO_MESSAGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm.h"
#include "ticks.h"

enum { MESSAGES_MOST = 1 << 18, MESSAGES_WAITED = 4096, MESSAGE_SEND = 0, MESSAGE_RECEIVE = 1 };
/* The peer of a receive from any source, or with any tag, of which it never got known what it got. */
enum { MESSAGE_OPEN = -2 };
/* That of a message that was cancelled: there was none. */
enum { MESSAGE_CANCELLED = -3 };
#define MESSAGE_NO_CELL UINT32_MAX

/* The record of the file (README.md), with times in ticks until it is written. */
struct message {
    uint64_t posted;
    uint64_t begin; /* of the call that completed it */
    uint64_t end;   /* 0: that call is not known, or did not wait */
    uint64_t comm;
    uint64_t bytes; /* sent; of a receive 0 */
    uint32_t cell;  /* of that call */
    int32_t peer;   /* in MPI_COMM_WORLD */
    int32_t tag;
    uint32_t kind;
};
_Static_assert(sizeof(struct message) == 56, "the file's record has no holes");

struct messages {
    struct message *log; /* NULL: nothing is logged in this run */
    uint32_t count;
    uint32_t wild; /* receives under way of which it is not known whose message they will get */
    bool open;
    bool asked; /* one of them, or one that was cancelled, is among the requests last looked at */
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

/* What is about a message. */
struct envelope {
    uint32_t kind;
    uint64_t comm; /* message_comm */
    int peer;      /* in MPI_COMM_WORLD; MESSAGE_OPEN */
    int tag;
    int64_t bytes;
};

/* The communicator as the log has it; 0: not known. */
uint64_t message_comm(const struct group *group);

/* A message of a call that began and ended so; `request` is MPI_REQUEST_NULL if the call completed it. */
void message_add(uint32_t kind, const struct group *group, MPI_Comm comm, int peer, int tag, int64_t bytes,
                 uint64_t begin, uint64_t end, uint32_t cell, MPI_Request request);

/* A persistent request was started. */
void message_started(const struct envelope *envelope, uint64_t begin, uint64_t end, MPI_Request request);

/* Before and after a call that completes requests; `requests` as the language has them. */
void message_look(int count, const void *requests, bool fortran);

/* Where that call is to put statuses: where the program said, or, where it ignores them and we may not, in our own. */
MPI_Status *message_statuses(MPI_Status *given);

/* What that call completed. */
struct outcome {
    int done;             /* so many of the requests; less than 0: none */
    const void *indices;  /* their places, from 1 in Fortran; NULL: the first ones */
    const void *statuses; /* one for each of them; NULL: ignored */
};
void message_completed(const struct outcome *outcome, bool fortran, bool waits, uint64_t begin, uint64_t end,
                       uint32_t cell);

/* A request is being cancelled that message_look was shown before: whether it was, its completion tells. */
void message_cancelled(void);

/* A request was freed that message_look was shown before. */
void message_dropped(void);

/* A communicator is gone: whose messages receives on it get could no longer be told. */
static inline void message_ended(void)
{
    if (messages.wild > 0)
        message_close();
}

#endif
