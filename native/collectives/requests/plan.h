/* A collective over several nodes as a plan: the steps that one rank takes, in order. Pure functions, tested without MPI
 * (tests/test_coll_plans.c, tests/test_coll_block_plans.c); schedule.h takes the steps, without ever waiting for a message.
 *
 * A broadcast, a reduction, a barrier: a rank has one vector of its own ("mine") and room for one that has come. The ranks of a node take
 * part by one of them: by the root on its own node, elsewhere by the first. Trees of a node are binomial; those over nodes too where
 * vectors are combined, and 4-nomial for a broadcast (as bcast_leader's). An allreduce is recursive doubling between nodes, a barrier
 * dissemination. Blocks of ranks: plan_blocks.c. */
#ifndef UNISONO_PLAN_H
#define UNISONO_PLAN_H

#include "../collective.h"
#include "../topology.h"

enum plan_kind {
    PLAN_SEND,          /* to the peer */
    PLAN_RECEIVE,       /* from the peer */
    PLAN_TAKE,          /* a vector beside mine, from the peer */
    PLAN_WAIT,          /* until all of that has been sent and has come */
    PLAN_COMBINE_LEFT,  /* what has come with mine, in this order */
    PLAN_COMBINE_RIGHT, /* the other way round */
    PLAN_COPY,          /* rows of blocks */
    PLAN_BY_NODE,       /* a block for each rank, of the program's, in the order of the nodes: topology.members */
    PLAN_BY_RANK        /* the other way round */
};

/* Memory of a rank. Blocks are as long as what a call says (struct call); a vector is one. */
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
    struct plan_place place; /* what is sent, received or copied */
    int blocks;              /* of a message, or of a row */
    /* Where it is copied to; how many rows; blocks from one to the next, and where they are copied to. */
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

/* Whether there is one: of iallgather, iallreduce, ialltoall, ibarrier, ibcast, igather, ireduce and iscatter. */
bool plan_is_there(enum collective collective);
/* Whether a rank has a block for each rank, or gets one of each. */
bool plan_is_of_blocks(enum collective collective);
/* This rank's steps; plan_free() afterwards. `root` of ibcast, igather, ireduce and iscatter. */
struct plan plan_make(const struct topology *topology, enum collective collective, int root);
void plan_free(struct plan *plan);

/* A step, of a vector unless its other members are set. */
struct plan_step *plan_add(struct plan *plan, enum plan_kind kind, int peer);
/* So many blocks of mine, from the first rank of this node to the others. */
void plan_down_node(struct plan *plan, const struct topology *topology, int blocks);

/* plan_blocks.c. */
struct plan plan_allgather(const struct topology *topology);
enum {
    PLAN_ALLTOALL_NODES = 4096
}; /* three steps for each: of more nodes it would be longer than what a call may take */
struct plan plan_alltoall(const struct topology *topology);
struct plan plan_gather(const struct topology *topology, int root);
struct plan plan_scatter(const struct topology *topology, int root);

#endif
