/* Requests of nonblocking collectives that are ours (../collectives/node/posts.h): generalized requests of MPI, which the functions
 * that complete requests look after. */
#ifndef UNISONO_NONBLOCKING_H
#define UNISONO_NONBLOCKING_H

#include "comm_state.h"
#include "parts.h"

/* Memory of the program that is not, or not for us, its data one after the other. */
struct packed {
    bool is_there;
    void *data; /* NULL where it is MPI_BOTTOM */
    MPI_Count count;
    MPI_Datatype type;
    struct layout layout;
};

/* What a call asks for: with contiguous data, but for what has to be packed first, or unpacked in the end. `keeps`: this rank's own
 * block is where it is received. */
struct wish {
    struct call call;
    struct packed send, receive;
    bool keeps;
    struct parts *parts;                 /* of calls whose blocks have lengths of their own; else NULL */
    const struct dispatch_vector *given; /* elements of each rank's block of an ireduce_scatter, while the call lasts */
};

/* Whether the job's calls may be ours at all: the same on all ranks. */
bool nonblocking_is_allowed(void);

/* Whether ours can serve this collective, of any kind, where the communicator's ranks are: those that do not block go over several
 * nodes where the MPI library calls us meanwhile (progress.h). The same on all ranks. */
bool nonblocking_reaches(const struct comm_state *state, enum collective collective);

/* Whether something of ours serves this on the communicator, as it is seen by `comm`: the same on all ranks. Local. `named`: as rules
 * call it, which is the persistent form where that is made. */
const struct implementation *nonblocking_choose(struct comm_state *state, const struct coll_comm *comm,
                                                const struct call *call, enum collective named);

/* Begins it. False: it is the MPI library's. Local. The wish's parts are gone then, or belong to it. A neighbourhood's wish without parts
 * is that of a rank that cannot have it served. */
bool nonblocking_begin(struct comm_state *state, const struct wish *wish, MPI_Request *request, int *error);

/* Whether rules, or costs, may have anything of ours for nonblocking calls: the same on all ranks. */
bool nonblocking_is_wanted(void);
/* Or what the program has asked for on a communicator (unisono.h), as all of its ranks do. */
bool nonblocking_is_wanted_on(const struct comm_state *state);
/* The communicator ends: waits for what is under way. */
void nonblocking_end(struct comm_state *state);

/* It is not begun, and the MPI library's, which may be given an algorithm for it (libnbc.h): counted where that is asked for. */
void nonblocking_left(MPI_Comm comm, enum collective collective, MPI_Count count, MPI_Datatype type, MPI_Op op);

/* As a call that blocks, request and all. MPI error code. */
int nonblocking_run(struct coll_comm *comm, const struct call *call);

/* Collective over the world, whose memory for it is needed to try it (trial.h). */
void nonblocking_before_trial(struct comm_state *world);
/* Once, after the rules were read and all has been tried: whether any call may be ours; then the world's memory for it. */
void nonblocking_start(void);
/* The program asks for one of ours by itself (unisono.h). Collective over the communicator. */
void nonblocking_ask(struct comm_state *state);

#endif
