/* Persistent collectives that the program has (dispatch.h), as this rank knows them. */
#ifndef UNISONO_PERSISTENT_H
#define UNISONO_PERSISTENT_H

#include "lasting.h"
#include "node/kept.h"
#include "wishes.h"

struct persistent {
    MPI_Request request; /* the program's, of the MPI library's own making; inactive there as long as starts are ours */
    MPI_Comm user;       /* MPI_COMM_NULL: it has ended */
    const struct implementation *by;
    struct kept kept;        /* on one node; .keep NULL: not, and */
    struct lasting *lasting; /* NULL: it is the MPI library's */
    bool is_early;           /* as it was made before its communicator had memory */
    bool is_active;          /* the program has started it and does not know yet that it is over */
    bool is_over;
    int error;
    /* Where data has gaps: the program's, with types of ours, as the program may free its own, and room for it in one piece. */
    struct packed send, receive;
    void *sent, *received;
    bool keeps;
    struct parts *parts;     /* instead, where blocks have lengths of their own */
    struct persistent *next; /* of the same bucket */
    bool is_hidden;          /* complete.c: from an array in which it is at `place`, and */
    struct persistent *more; /* the next one of it that is, too */
    int place;
};

/* Collective, where one is made. NULL: it is the MPI library's. */
struct comm_state *persistent_place(MPI_Comm comm);
/* Collective: the MPI library has made the request there. `possible`: `wish` says what each start of it is; else, and where it cannot be
 * ours, its starts are the MPI library's. */
void persistent_make(struct comm_state *state, bool possible, const struct wish *wish, MPI_Request request);

/* NULL: it is none of ours. */
struct persistent *persistent_find(MPI_Request request);
/* Of one that is ours: for those that wait. */
struct coll_comm *persistent_comm(const struct persistent *one);

/* Ends it where it can be ended. Waits for nobody. */
void persistent_move(struct persistent *one);
/* One turn of waiting for it, *turn counts from 0. */
void persistent_turn(struct persistent *one, unsigned *turn);
/* It is over, and the program hears of it: how it ended. MPI error code. */
int persistent_result(struct persistent *one);

/* The communicator has ended; requests on it are not. */
void persistent_end(MPI_Comm comm);
/* At MPI_Finalize. */
void persistent_finish(void);

#endif
