/* A collective over several nodes as a plan: the steps that one rank takes, in order. Pure functions, tested without MPI
 * (tests/test_coll_plans.c, tests/test_coll_block_plans.c); schedule.h takes the steps, without ever waiting for a message.
 *
 * A broadcast, a reduction, a barrier: a rank has one vector of its own ("mine") and room for one that has come. The ranks of a node take
 * part by one of them: by the root on its own node, elsewhere by the first. Trees of a node are binomial; those over nodes too where
 * vectors are combined, and 4-nomial for a broadcast (as bcast_leader's). An allreduce is recursive doubling between nodes, a barrier
 * dissemination. Blocks of ranks: plan_blocks.c; what those before a rank have: plan_scan.c. */
#ifndef UNISONO_PLAN_H
#define UNISONO_PLAN_H

#include "../collective.h"
#include "../topology.h"

enum plan_kind {
    PLAN_SEND,          /* to the peer */
    PLAN_RECEIVE,       /* from the peer */
    PLAN_TAKE,          /* a vector beside mine, from the peer */
    PLAN_WAIT,          /* until all of that has been sent and has come */
    PLAN_COMBINE_LEFT,  /* what is at the place, usually what has come, with what is there, usually mine: into that */
    PLAN_COMBINE_RIGHT, /* the other way round */
    PLAN_COPY,          /* rows of blocks */
    PLAN_BY_NODE,       /* a block for each rank, of the program's, in the order of the nodes: topology.members */
    PLAN_BY_RANK        /* the other way round */
};

/* Memory of a rank. Blocks are as long as what a call says (struct call), or of ireduce_scatter and iallgatherv each as its rank's is;
 * a vector is one. */
enum plan_where {
    PLAN_MINE,
    PLAN_BESIDE,
    PLAN_GIVEN, /* the program's, which it sends */
    PLAN_GOT    /* the program's, where it receives; may be the same */
};

struct plan_place {
    enum plan_where where;
    int at; /* block */
};

struct plan_step {
    enum plan_kind kind;
    int peer;                /* rank of the communicator; -1: none */
    struct plan_place place; /* what is sent, received, combined or copied */
    int blocks;              /* of a message, or of a row */
    /* Where it is combined into, or copied to; how many rows; blocks from one to the next, and where they are copied to. */
    struct plan_place to;
    int rows, stride, to_stride;
};

struct plan {
    struct plan_step *step;
    int count, room;
    int most;         /* messages between two waits */
    bool combines;    /* any step does */
    int mine, beside; /* blocks of these, where there are any beside the program's */
};

/* Whether there is one: of iallgather(v), iallreduce, ialltoall, ibarrier, ibcast, iexscan, igather, ireduce, ireduce_scatter(_block),
 * iscan and iscatter. */
bool plan_is_there(enum collective collective);
/* Whether it says what memory it takes, and copies into it what the program has; vectors of others are laid out by schedule.c. */
bool plan_lays_out(enum collective collective);
/* This rank's steps; plan_free() afterwards. `root` of ibcast, igather, ireduce and iscatter. */
struct plan plan_make(const struct topology *topology, enum collective collective, int root);
void plan_free(struct plan *plan);

/* A step, of a vector unless its other members are set. */
struct plan_step *plan_add(struct plan *plan, enum plan_kind kind, int peer);
/* A message of blocks. */
void plan_message(struct plan *plan, enum plan_kind kind, int peer, struct plan_place place, int blocks);
void plan_wait(struct plan *plan);
/* Blocks that have come beside into mine at the same place: mine first. */
void plan_combine_blocks(struct plan *plan, int at, int blocks);
/* A row of blocks. */
struct plan_step *plan_copy(struct plan *plan, struct plan_place from, struct plan_place to, int blocks);
/* So many blocks from there, of the rank at this place of the node to the others, which receive them there. */
void plan_down_node(struct plan *plan, const struct topology *topology, int from, struct plan_place place, int blocks);

/* plan_blocks.c. */
/* `is_there`: what is gathered is where the program wants it; else it is gathered in memory of ours. */
struct plan plan_allgather(const struct topology *topology, bool is_there);
enum {
    PLAN_ALLTOALL_NODES = 4096
}; /* three steps for each: of more nodes it would be longer than what a call may take */
struct plan plan_alltoall(const struct topology *topology);
struct plan plan_gather(const struct topology *topology, int root);
struct plan plan_reduce_scatter(const struct topology *topology);
struct plan plan_scatter(const struct topology *topology, int root);

/* plan_scan.c. */
struct plan plan_scan(const struct topology *topology, bool is_exclusive);

#endif
