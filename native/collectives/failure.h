/* When a process dies, or leaves a collective because another did: those that wait for it must hear of it, and what it
 * leaves must not harm anybody.
 *
 * A failure is found in one of three ways: the MPI library says so (MPI_ERR_PROC_FAILED, MPI_ERR_REVOKED on the private
 * communicator: fault tolerance as of Open MPI 5); a rank of the node is no longer among the processes (looked at about
 * once a second by who waits that long); or another rank of the node has left before. The rank that finds it
 *   - tells the others of the node, by a word in their shared memory, and all others by revoking the private communicator
 *     where the MPI library can;
 *   - waits until none of the node reads or writes its memory any more (pull.h);
 *   - puts memory of its own in the place of what it shared. Whatever it still does to come to the end of the algorithm,
 *     nobody else sees, and of the others it reads zeros.
 * From then on nothing waits, and the call ends with an error instead of a result. */
#ifndef UNISONO_FAILURE_H
#define UNISONO_FAILURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of the ranks that have one private communicator. Only the thread that is in a collective uses it. */
struct failure {
    int error; /* class; MPI_SUCCESS: none that is known */
    MPI_Comm comm;
    struct memory *memory;     /* what the ranks of the node share: failure_shared() */
    struct presence *presence; /* of each rank of the node, in the first memory; NULL: none yet */
    int64_t apart;             /* bytes from one to the next */
    int locals, local;
    int64_t look_at; /* when to look for processes next, in ns */
    int next;        /* whose state is looked at then */
    /* Where those that wait for messages hear of it (fabric.h): messages that are under way. */
    MPI_Request *message, *before; /* `before`: room, for messages as they were before one of them was waited for */
    int messages, messages_room, before_room;
    struct failure *newer;
};

struct failure *failure_create(void);
/* The private communicator: its errors are returned, and those that tell of a failure heard. */
void failure_listen(struct failure *failure, MPI_Comm comm);
void failure_free(struct failure *failure);

/* The class of what the MPI library knows of this communicator, without asking for a message: revoked, or a rank has died. */
int failure_told(MPI_Comm comm);
/* Whether the MPI library was told to go on when processes fail. */
bool failure_tolerated(void);

/* NULL: nothing is watched. */
static inline bool failure_known(const struct failure *failure)
{
    return failure != NULL && failure->error != MPI_SUCCESS;
}

/* This rank cannot go on, for this reason: an MPI error code. Does nothing the second time. True: no other rank of the node
 * has said so before. */
bool failure_found(struct failure *failure, int error);

/* The same when a process of the node is found to be gone. */
void failure_died(struct failure *failure);

/* Whoever waits calls it now and then; `begins`: for the first time in this wait. */
void failure_look(struct failure *failure, bool begins);

/* The class to be told to who called: that of a revoked communicator, where it is that. */
int failure_report(const struct failure *failure, MPI_Comm user);

/* Memory of `locals` parts, `each` bytes apart, that ranks of the node share; `room` bytes at the end of every part are for
 * this here: what failure_room() said. False: no memory to remember it. */
int64_t failure_room(const struct failure *failure);
bool failure_shared(struct failure *failure, char *base, int64_t each, int locals, int local);
/* It is going to be unmapped; a failure of NULL knows nothing of it. */
void failure_unshared(struct failure *failure, const char *base);

/* The place in it for what is handed over (node/handed.h); where there is memory. */
struct handed *failure_handed(const struct failure *failure, int local);

/* Around a look into another process's memory, or a write to it. False: it must not be, as somebody has left. */
bool failure_reach(struct failure *failure);
void failure_reached(struct failure *failure);

/* MPI_Abort of all ranks, once the launcher has had the time to pass on what this one has just printed: MPICH's kills at once
 * and drops what is still in its pipes. */
void failure_end_job(int status);

#endif
