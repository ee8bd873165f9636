/* Which collective a call is. */
#ifndef UNISONO_COLLECTIVE_H
#define UNISONO_COLLECTIVE_H

#include <stdbool.h>

enum collective {
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLREDUCE,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_ALLTOALLW,
    COLL_BARRIER,
    COLL_BCAST,
    COLL_EXSCAN,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_NEIGHBOR_ALLGATHER,
    COLL_NEIGHBOR_ALLGATHERV,
    COLL_NEIGHBOR_ALLTOALL,
    COLL_NEIGHBOR_ALLTOALLV,
    COLL_NEIGHBOR_ALLTOALLW,
    COLL_REDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLLECTIVES_BLOCKING,
    COLL_IALLGATHER = COLLECTIVES_BLOCKING,
    COLL_IALLGATHERV,
    COLL_IALLREDUCE,
    COLL_IALLTOALL,
    COLL_IALLTOALLV,
    COLL_IALLTOALLW,
    COLL_IBARRIER,
    COLL_IBCAST,
    COLL_IEXSCAN,
    COLL_IGATHER,
    COLL_IGATHERV,
    COLL_INEIGHBOR_ALLGATHER,
    COLL_INEIGHBOR_ALLGATHERV,
    COLL_INEIGHBOR_ALLTOALL,
    COLL_INEIGHBOR_ALLTOALLV,
    COLL_INEIGHBOR_ALLTOALLW,
    COLL_IREDUCE,
    COLL_IREDUCE_SCATTER,
    COLL_IREDUCE_SCATTER_BLOCK,
    COLL_ISCAN,
    COLL_ISCATTER,
    COLL_ISCATTERV,
    COLLECTIVES_AT_ONCE, /* of those the call itself begins them */
    COLL_ALLGATHER_INIT = COLLECTIVES_AT_ONCE,
    COLL_ALLGATHERV_INIT,
    COLL_ALLREDUCE_INIT,
    COLL_ALLTOALL_INIT,
    COLL_ALLTOALLV_INIT,
    COLL_ALLTOALLW_INIT,
    COLL_BARRIER_INIT,
    COLL_BCAST_INIT,
    COLL_EXSCAN_INIT,
    COLL_GATHER_INIT,
    COLL_GATHERV_INIT,
    COLL_NEIGHBOR_ALLGATHER_INIT,
    COLL_NEIGHBOR_ALLGATHERV_INIT,
    COLL_NEIGHBOR_ALLTOALL_INIT,
    COLL_NEIGHBOR_ALLTOALLV_INIT,
    COLL_NEIGHBOR_ALLTOALLW_INIT,
    COLL_REDUCE_INIT,
    COLL_REDUCE_SCATTER_INIT,
    COLL_REDUCE_SCATTER_BLOCK_INIT,
    COLL_SCAN_INIT,
    COLL_SCATTER_INIT,
    COLL_SCATTERV_INIT,
    COLLECTIVES
};

/* In lower case, as everywhere in Unisono. */
extern const char *const collective_names[COLLECTIVES];

/* Whether the program waits for a request. */
static inline bool collective_is_nonblocking(enum collective collective)
{
    return collective >= COLLECTIVES_BLOCKING;
}

/* Whether it is named as a persistent one is, of which each start is what the nonblocking call would be. Rules have such names; what is
 * run is collective_started(). */
static inline bool collective_is_persistent(enum collective collective)
{
    return collective >= COLLECTIVES_AT_ONCE;
}

/* The persistent form of a nonblocking one: all three forms are in the same order. */
static inline enum collective collective_init(enum collective nonblocking)
{
    return nonblocking + (COLLECTIVES_AT_ONCE - COLLECTIVES_BLOCKING);
}

/* What a start of a persistent one is; others are themselves. */
static inline enum collective collective_started(enum collective collective)
{
    return collective_is_persistent(collective) ? collective - (COLLECTIVES_AT_ONCE - COLLECTIVES_BLOCKING)
                                                : collective;
}

/* A vector that is combined, and of which every rank gets a block. */
static inline bool collective_scatters_sum(enum collective collective)
{
    return collective == COLL_REDUCE_SCATTER || collective == COLL_REDUCE_SCATTER_BLOCK;
}

/* Whether it blocks, and ranks have to do with their neighbours alone. */
static inline bool collective_is_near(enum collective collective)
{
    return collective == COLL_NEIGHBOR_ALLGATHER || collective == COLL_NEIGHBOR_ALLGATHERV ||
           collective == COLL_NEIGHBOR_ALLTOALL || collective == COLL_NEIGHBOR_ALLTOALLV ||
           collective == COLL_NEIGHBOR_ALLTOALLW;
}

/* The same of those that do not block. */
static inline bool collective_is_near_later(enum collective collective)
{
    return collective >= COLL_INEIGHBOR_ALLGATHER && collective <= COLL_INEIGHBOR_ALLTOALLW;
}

/* Whether ranks agree on no size: their arguments are each rank's own. */
static inline bool collective_has_no_size(enum collective collective)
{
    collective = collective_started(collective);
    return collective == COLL_BARRIER || collective == COLL_ALLTOALLV || collective == COLL_ALLTOALLW ||
           collective == COLL_GATHERV || collective == COLL_SCATTERV || collective == COLL_IALLTOALLV ||
           collective == COLL_IALLTOALLW || collective == COLL_IGATHERV || collective == COLL_ISCATTERV ||
           collective_is_near(collective) || collective_is_near_later(collective);
}

/* Whether every rank gets what those before it have, combined. */
static inline bool collective_scans(enum collective collective)
{
    return collective == COLL_SCAN || collective == COLL_EXSCAN;
}

/* Whether elements are combined by a call that is nonblocking. */
static inline bool collective_combines_later(enum collective collective)
{
    return collective == COLL_IALLREDUCE || collective == COLL_IREDUCE || collective == COLL_IREDUCE_SCATTER ||
           collective == COLL_IREDUCE_SCATTER_BLOCK || collective == COLL_ISCAN || collective == COLL_IEXSCAN;
}

/* Whether elements are combined. */
static inline bool collective_reduces(enum collective collective)
{
    collective = collective_started(collective);
    return collective == COLL_REDUCE || collective == COLL_ALLREDUCE || collective_scatters_sum(collective) ||
           collective_scans(collective) || collective_combines_later(collective);
}

#endif
