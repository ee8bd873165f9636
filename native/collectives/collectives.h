/* Our collectives: what an algorithm is given, and what it says of itself.
 *
 * Algorithms see contiguous bytes. Datatypes, MPI_IN_PLACE, large counts and error handlers are dealt with before, by
 * dispatch, so that an algorithm is only who sends what to whom. */
#ifndef UNISONO_COLLECTIVES_H
#define UNISONO_COLLECTIVES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective.h"
#include "fabric.h"
#include "topology.h"

/* What a reduction's result may depend on. ORDER_RANKS: elements are combined from rank 0's to the last rank's, one after the
 * other, ((a0 op a1) op a2) op ..., wherever ranks are and whatever the algorithm. ORDER_EXACT: sums of floating-point
 * numbers are those of exact.h; everything else as ORDER_RANKS. */
enum reduction_order { ORDER_FREE, ORDER_RANKS, ORDER_EXACT };

/* How elements are combined. */
struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    int64_t element; /* bytes; size and extent are the same, or the call is not served */
    bool commutative;
    /* result[i] = left[i] op right[i]; any of the three may be the same memory, but may not overlap otherwise. `left`
       is of lower ranks than `right`, which matters to operations that are not commutative. Made by reduction_set(). */
    void (*combine)(const struct reduction *reduction, const void *left, const void *right, void *result,
                    int64_t count);
    enum reduction_order order;
    int64_t parts; /* numbers of an element, for sum */
    /* result[i] = the sum of of[0][i] to of[vectors - 1][i], of `count` numbers; NULL: combine two at a time. */
    void (*sum)(const void *const *of, int vectors, void *result, int64_t count);
};

/* Whom a rank sends to and whom it receives from, in the order of its blocks; below 0: nobody. Nobody is there twice on one
 * side. */
struct neighbours {
    int targets, sources;
    const int *target, *source;
};

/* One call. Sizes are bytes. What the others' arguments may differ in is said; all else is the same on every rank. */
struct call {
    enum collective collective;
    int root;      /* bcast, gather(v), reduce, scatter(v) */
    int64_t bytes; /* the message size as IMB counts it: the vector of bcast, reduce, allreduce, (ex)scan; what one rank
                      contributes to allgather and gather; what one rank has for one other in alltoall and scatter; what
                      one rank gets of reduce_scatter_block; of reduce_scatter the whole vector; of allgatherv
                      the total over all ranks divided by the ranks, rounded up; 0 for alltoallv, alltoallw, neighbor_*, gatherv, scatterv and
                      barrier */

    /* Data goes from `send` to `receive`, both contiguous. They overlap only where said:
       bcast      `receive` is the buffer on all ranks, on the root what is sent; `send` is not used.
       reduce     `receive` counts on the root alone, elsewhere it is NULL; on the root they may be equal.
       allreduce  they may be equal.
       scan       they may be equal; so in exscan, where `receive` of rank 0 is NULL.
       allgather  `send` may be this rank's own place in `receive`; so in allgatherv.
       alltoall   never; so in alltoallv and alltoallw, which to algorithms are the same.
       neighbor_*  never; several of `send_at` may be the same.
       reduce_scatter(_block)  they may be equal; not where an algorithm sees them (run.c).
       Nonblocking ones are like those that block, but that ibcast's root sends `send`, ireduce_scatter(_block) may be in place,
       and `receive` of iscatter's root is NULL in place. In place the root of an igatherv or iscatterv has no own block.
       gather(v)  `receive` counts on the root alone, elsewhere it is NULL; its `send` may be its own place in it.
       scatter(v) `send` counts on the root alone, elsewhere it is NULL; its `receive` may be its own place in it. */
    const void *send;
    void *receive;

    /* allgatherv: receive_*, of `ranks` entries, are the same everywhere, and so are reduce_scatter(_block)'s send_*: the
       block of each rank, one after the other, with gaps where the call is a piece of another. alltoallv: all four are a
       rank's own. gatherv's receive_* and scatterv's send_* are known to the root alone. */
    const struct neighbours *around;     /* (i)neighbor_*: then send_* are by target, receive_* by source */
    int64_t most;                        /* ineighbor_*: neighbours of the rank that has most; the same everywhere */
    const int64_t *send_bytes, *send_at; /* by rank: how many bytes, where in `send` */
    const int64_t *receive_bytes, *receive_at;

    int64_t
        own; /* bytes of this rank's block; gatherv, scatterv: known to it and to the root. In place: 0, in the root's table too */
    int64_t own_at; /* ireduce_scatter: where that block is in the vector */
    int64_t
        piece; /* iallgatherv, ialltoallv(w), igatherv, iscatterv, ineighbor_*: room for a block, the same everywhere; none is longer */
    int64_t count;              /* elements; reduce, allreduce, scan, exscan */
    struct reduction reduction; /* of all that combine */
};

struct node;  /* the node transport: node/node.h */
struct peers; /* what it has in common with communicators of the same ranks: peers.h */

/* Seconds; measured by the study, in the rules, or what is usual. node_byte: to copy a byte that another rank of the node has
 * just written, while all do; combine_byte: to combine a byte of what has come with one's own; 0: as long as to copy it; fabric_latency: to send to a node, on average over those 1, 2, 4 ... further on; fabric_near: to a neighbour; 0: the same;
 * fabric_byte: to send a byte, by one rank of a node; fabric_message: for each short message more that a
 * rank sends and receives at once. pull_call, pull_byte: to begin reading in another rank's own memory, and for each byte
 * (node/pull.h). node_wait: until the ranks of a node that share CPUs have all had theirs; 0: not known, or each has its own. meet: until
 * two ranks of a node have heard of one another, by the depth at which they are together (levels.h); meet_more: what each further
 * rank adds to that; 0: not measured, as ranks share CPUs, or there are no more than two. sharing: how many times
 * fabric_latency a message takes longer for each further rank of its node that sends at once, where has_sharing says that it was
 * measured. shorter: where ranks share CPUs
 * and has_shorter says so, node_byte of messages of costs_shorter bytes, while node_byte itself is of COSTS_LONG bytes. */
enum { COSTS_SHORTER = 2, COSTS_LONG = 128 << 10 };
static const int64_t costs_shorter[COSTS_SHORTER] = {8 << 10, 32 << 10};
struct costs {
    double node_latency, node_byte, combine_byte, fabric_latency, fabric_near, fabric_byte, fabric_message, pull_call,
        pull_byte, node_wait;
    double meet[LEVELS + 1], meet_more;
    bool has_sharing, has_shorter;
    double sharing;
    double shorter[COSTS_SHORTER];
};

/* The ranks of one communicator, as our collectives see them. */
struct coll_comm {
    MPI_Comm comm; /* private, or shared with others of the same ranks: all our messages; errors are returned */
    int rank, ranks;
    bool served;   /* on all nodes there is memory to share: else nothing of ours applies. The same on all ranks */
    bool is_short; /* cells or queues were refused: what applied before may not do so now */
    bool
        crowded; /* somewhere ranks have no CPU each: the same on all ranks, for the cost model (node->crowded: here) */
    struct topology topology; /* the peers' */
    struct fabric fabric;
    struct peers *peers;
    int slot;
    struct node *node;       /* the ranks of this rank's node; never NULL */
    struct posts *posts;     /* for nonblocking collectives: node/posts.h; NULL: none */
    uint64_t schedules;      /* nonblocking ones over several nodes so far: requests/schedule.h */
    struct domains *domains; /* the same in levels: node/domains.h; NULL: not yet */
    struct scratch *scratch;
    struct rounds_known *rounds; /* what group/rounds.h found for the last calls; NULL: nothing yet */
    struct costs costs;
};

/* There is a cuboid of several nodes, each of which has links of its own to its neighbours. */
static inline bool torus_applies(const struct coll_comm *comm)
{
    return comm->topology.cuboid.node_at != NULL && comm->topology.nodes > 1;
}

/* Collective over the ranks of `user`, which is an intracommunicator: a private communicator, topology, transports. The
 * same answer on all ranks; on failure *made is NULL and nothing is left behind. MPI error codes. */
int coll_comm_create(MPI_Comm user, struct coll_comm **made);
/* The same where its peers are known; *made is NULL with MPI_SUCCESS too when it has not lived long enough (peers.h). */
int coll_comm_join(struct peers **peers, MPI_Comm user, int64_t lived, struct coll_comm **made);
/* Local: without a private communicator and without memory, for nonblocking calls of the ranks of one node alone (node/posts.h).
 * `peers` has one more user. NULL: no memory for it. */
struct coll_comm *coll_comm_alone(struct peers *peers);
/* Local but for freeing the private communicator. */
void coll_comm_free(struct coll_comm *comm);

/* Memory for one call, at least so many bytes, aligned to a page; NULL: none left. Little of it is kept for the next call:
 * coll_scratch_trim() gives back what all communicators of this process have beyond 18 MiB. Of one `which` at a
 * time there is one: PACK_* belong to dispatch, WORK, OTHER and MORE to the algorithm, NODE to the phases of node/, MESSAGES to
 * those of group/. */
enum {
    SCRATCH_PACK_SEND,
    SCRATCH_PACK_RECEIVE,
    SCRATCH_WORK,
    SCRATCH_OTHER,
    SCRATCH_MORE,
    SCRATCH_NODE,
    SCRATCH_MESSAGES,
    SCRATCHES
};
void *coll_scratch(struct coll_comm *comm, int which, int64_t bytes);
void coll_scratch_trim(struct coll_comm *comm);
/* Whether there would be so many bytes more, for this process. */
bool coll_scratch_would(int64_t bytes);

/* What the choice of an algorithm may depend on: the same on every rank. */
struct shape {
    int64_t bytes;    /* as in a call */
    int64_t element;  /* reductions */
    bool commutative; /* reductions; true otherwise */
    int root;
    bool ordered; /* a reduction that is not ORDER_FREE */
};

/* One row of the table. An algorithm is one file: pure functions that say who sends what to whom at each step, which
 * can be tested without MPI, and the loop that runs them. Its name is that of the file and of the object. */
struct algorithm {
    const char *name; /* "bcast_pull": the collective and what is particular */
    enum collective collective;
    const char *meaning;   /* one sentence for people */
    const char *reference; /* paper, book or document; "" if it is our own */
    int64_t segment;       /* the segment size that is used when 0 is asked for; 0: it has no segments */
    bool keeps_order;      /* it can combine in the order of ORDER_RANKS and ORDER_EXACT */
    /* Whether it can serve this; whether it is good at it is the business of cost. */
    bool (*applies)(const struct coll_comm *comm, const struct shape *shape);
    /* Seconds by a model of latency and bandwidth (comm->costs), for the choice where nothing was measured. */
    double (*cost)(const struct coll_comm *comm, const struct shape *shape);
    /* Bytes between groups of nodes (places.h), where these are known; NULL: not counted. */
    struct crossing (*crosses)(const struct coll_comm *comm, const struct shape *shape);
    /* Bytes that a call takes beside its buffers, on the rank that takes most, in proportion to the message. NULL: what it
       takes does not grow with the message, nor with the ranks of a node times all ranks. */
    int64_t (*scratch)(const struct coll_comm *comm, const struct shape *shape);
    /* The same of an alltoallv whose blocks were all that long. As no shape tells their lengths, much goes in pieces. NULL: it
       keeps nothing of what others send. */
    int64_t (*collects)(const struct coll_comm *comm, const struct shape *shape);
    /* MPI error code. `segment`: bytes, never 0 where the algorithm has segments. */
    int (*run)(struct coll_comm *comm, const struct call *call, int64_t segment);
};

/* Whether it can serve this within the memory that a call may take; the same on all ranks. */
bool algorithm_applies(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape);
/* In pieces, where a reduction would take more memory than that. `segment`: bytes, 0 for the usual one. */
int algorithm_run(const struct algorithm *algorithm, struct coll_comm *comm, const struct call *call, int64_t segment);

/* Bytes between groups of nodes; none where these are not known, or nothing is counted. */
struct crossing algorithm_crosses(const struct algorithm *algorithm, const struct coll_comm *comm,
                                  const struct shape *shape);
/* By its own model, and as if what crosses waited for the links between groups after it has passed those of the nodes: seconds. */
double algorithm_cost(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape);

/* NULL at the end. */
const struct algorithm *algorithm_at(int index);
/* By the name's part after the collective's ("pull" of bcast); NULL: none. */
const struct algorithm *algorithm_find(enum collective collective, const char *name);
/* COLLECTIVES: no such name. */
enum collective collective_find(const char *name);

#endif
