/* What dispatch knows of one communicator of the program, kept with it as an attribute.
 *
 * Made in steps, each at a call that all ranks make and on values that are equal on all of them: the first calls are only
 * counted, so that communicators that do not live long cost next to nothing; then the rules are looked at, which is
 * local. Where they, or costs, would have something of ours, all ranks ask each other now and then, at LOOK_FIRST calls
 * and at each LOOK_AGAIN times as many, whether a private communicator is there already, for another communicator of the
 * same ranks, or repaid by how long this one has been used (peers.h). Duplicates are made when one is chosen.
 *
 * UNISONO_PATIENCE=0: nobody asks, and the private communicator is made when something that it serves is chosen. */
#ifndef UNISONO_COMM_STATE_H
#define UNISONO_COMM_STATE_H

#include "around.h"
#include "choice.h"
#include "device.h"
#include "types.h"

enum {
    DUPLICATES_MOST = 16,
    CALLS_BEFORE =
        3, /* with UNISONO_PATIENCE=0, the call at which a communicator that is not MPI_COMM_WORLD is looked at */
    /* So long that a communicator that ends right after it was looked at, or was offered memory for nonblocking calls, has
     * lost less than a tenth of its time: benchmarks/short_lived.py. */
    LOOK_FIRST = 256,
    LOOK_AGAIN = 4,
    LATER_FIRST = 4096,
};

struct duplicate {
    const struct implementation *implementation;
    MPI_Comm comm; /* MPI_COMM_NULL: cannot be had */
};

/* Where types have gaps, or data has to be moved. */
enum packing { PACKS_NOTHING, PACKS_PIECES, PACKS_WHOLE };

struct comm_state {
    MPI_Comm user;
    int rank, ranks;
    int calls, look_at; /* collective calls until it is ready; how many until it is looked at again */
    int64_t begun;      /* the first of them, or the last look: nanoseconds of a clock */
    bool ready;         /* choices may be looked up */
    bool failed;        /* cannot be equipped */
    bool is_nowhere;    /* it is not known where its ranks are */
    enum { JOINED_UNTRIED, JOINED_NOBODY, JOINED_SOME } joined; /* of its ranks, after MPI_Init (ordered.c) */
    int later;            /* nonblocking calls, until memory for them is offered (offer.h) */
    bool is_offered;      /* that has been, or all ranks were asked for it together */
    struct peers *peers;  /* NULL: not looked at yet */
    struct peers *former; /* before they were renewed; usually NULL */
    struct place place;
    struct coll_comm *ours;   /* NULL until it is needed */
    struct coll_comm *posted; /* the same for nonblocking calls: `ours`, or one of its own; NULL until it is needed */
    struct apart *apart;      /* for them over several nodes, without `ours` (scheduled.h); usually NULL */
    struct offer *offer;      /* of memory for them, as long as not all ranks have it; usually NULL */
    struct keep *keep;        /* for persistent ones (keeps.h); NULL until there is one */
    int kept_calls;           /* persistent collectives that were made, until then */
    bool keep_refused;        /* there will be none */
    struct lasting_place *lasting; /* the same over several nodes (lasting.h); NULL until there is one */
    bool lasting_refused;
    struct choice choice[COLLECTIVES];
    bool chosen[COLLECTIVES]; /* whether it has been made */
    bool own[COLLECTIVES];    /* it belongs to this alone; else to all its peers */
    bool asked[COLLECTIVES];  /* by the program itself: then it is its own */
    struct {
        struct shape shape;
        const struct implementation *implementation; /* NULL: look it up */
        MPI_Comm comm;                               /* where the MPI library serves, if it does */
    } last[COLLECTIVES_BLOCKING];                    /* what served last, and what */
    const struct implementation *serving;            /* this call, or the last one that was ours */
    enum packing packing;                       /* of the last call about which ranks have agreed (serve_packing) */
    struct device_watch (*device)[DEVICE_BINS]; /* of each collective; there is one with `ours` */
    struct device_watch gaps; /* over several nodes: whether a rank of an alltoallv packs more than SERVE_WINDOW */
    struct device_watch rooted_gaps; /* the same of a gatherv or scatterv */
    int duplicates;
    struct duplicate duplicate[DUPLICATES_MOST];
    struct reduction reduction; /* the last one; combine is NULL before */
    int64_t *vectors;           /* four of `ranks`, for the v's; NULL until then */
    struct around *around;      /* for neighbourhoods; NULL until then */
    struct layout *layouts;     /* two of `ranks`, for alltoallw; NULL until then */
    struct comm_state *newer, *older;
};

bool comm_state_start(void);
/* Collective over all communicators that are left. */
void comm_state_finish(void);

/* Counts a call of this collective; NULL: it is the MPI library's. */
struct comm_state *comm_state_find(MPI_Comm comm, enum collective collective);

/* The same, and nothing is counted: whether or not anything may be served there. NULL: no communicator, or not now. */
struct comm_state *comm_state_any(MPI_Comm comm);

/* Of a nonblocking call, which is counted by itself. Local. NULL: it is the MPI library's, whatever its arguments. */
struct comm_state *comm_state_of_nonblocking(MPI_Comm comm, enum collective collective);

/* Whether communicators have to have lived, or to have been many, before they are looked at. The same on all ranks. */
bool comm_state_is_patient(void);

/* Local: looks where its ranks are, if that has not been done. False: it cannot be served. */
bool comm_state_find_place(struct comm_state *state);

/* Local: whether rules, or costs, have anything of ours for nonblocking calls, once `posted` or `keep` is there. */
bool comm_state_wants_posts(struct comm_state *state);

/* The same at once; NULL also when the communicator is none that we can serve. */
struct comm_state *comm_state_now(MPI_Comm comm);

/* Collective: gets `ours`. The same answer on all ranks. */
bool comm_state_equip(struct comm_state *state);

/* From now on it is the MPI library's. */
void comm_state_step_aside(struct comm_state *state);

/* Local: whether rules, or costs, have anything of ours for it; for nonblocking calls over several nodes, and for persistent ones. */
bool comm_state_wants(struct comm_state *state);
bool comm_state_wants_schedules(struct comm_state *state);
bool comm_state_wants_lasting(struct comm_state *state);

/* What serves a message of this size; NULL: mpi. Collective the first time. */
const struct range *comm_state_range(struct comm_state *state, enum collective collective, int64_t bytes);

/* The same of a persistent one as it is made: what the program asked for, or rules say, of the nonblocking form counts where neither
 * speaks of this one. */
const struct range *comm_state_range_init(struct comm_state *state, enum collective collective, int64_t bytes);

/* From now on. Takes over what is in `choice`; without ranges, what the rules say counts again. */
void comm_state_force(struct comm_state *state, enum collective collective, struct choice *choice);

/* Local, but all ranks of a node do so: what served last is looked up anew. */
void comm_state_forget_last(struct comm_state *state);

/* Collective: the duplicate on which the MPI library serves with this; MPI_COMM_NULL: it cannot. */
MPI_Comm comm_state_duplicate(struct comm_state *state, const struct implementation *implementation);

/* Four arrays of `ranks` for the v's; NULL: no memory. */
int64_t *comm_state_vectors(struct comm_state *state);

/* Two arrays of `ranks` for alltoallw; NULL: no memory. */
struct layout *comm_state_layouts(struct comm_state *state);
/* The call is over: of many ranks they are not kept. */
void comm_state_layouts_done(struct comm_state *state);

#endif
