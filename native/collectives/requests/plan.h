/* A collective over several nodes as a plan: the steps that one rank takes, in order. Pure functions, tested without MPI
 * (tests/test_coll_plans.c); schedule.h takes the steps, without ever waiting for a message.
 *
 * A rank has one vector of its own ("mine") and room for one that has come. The ranks of a node take part by one of them: by
 * the root on its own node, elsewhere by the first. Trees of a node are binomial; those over nodes too where vectors are
 * combined, and 4-nomial for a broadcast (as bcast_leader's). An allreduce is recursive doubling between nodes, a barrier
 * dissemination. */
#ifndef UNISONO_PLAN_H
#define UNISONO_PLAN_H

#include "../collective.h"
#include "../topology.h"

enum plan_kind {
    PLAN_SEND,         /* mine, to the peer */
    PLAN_RECEIVE,      /* mine, from the peer */
    PLAN_TAKE,         /* a vector beside it, from the peer */
    PLAN_WAIT,         /* until all of that has been sent and has come */
    PLAN_COMBINE_LEFT, /* what has come with mine, in this order */
    PLAN_COMBINE_RIGHT /* the other way round */
};

struct plan_step {
    enum plan_kind kind;
    int peer; /* rank of the communicator; -1: none */
};

struct plan {
    struct plan_step *step;
    int count, room;
    int most;      /* messages between two waits */
    bool combines; /* any step does */
};

/* Whether there is one: of ibarrier, ibcast, ireduce and iallreduce. */
bool plan_is_there(enum collective collective);
/* This rank's steps; plan_free() afterwards. `root` of ibcast and ireduce. */
struct plan plan_make(const struct topology *topology, enum collective collective, int root);
void plan_free(struct plan *plan);

#endif
