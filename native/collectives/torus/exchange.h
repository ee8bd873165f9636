/* Everybody to everybody on a torus, message by message (Fujitsu 2014; spread.h). */
#ifndef UNISONO_TORUS_EXCHANGE_H
#define UNISONO_TORUS_EXCHANGE_H

#include "bcast.h"

enum spread_kind { SPREAD_SIMPLE, SPREAD_DOUBLE };

static inline int64_t alltoall_bytes(const struct call *call, const int64_t *bytes, int rank)
{
    (void)rank;
    return call->collective == COLL_ALLTOALLV ? bytes[rank] : call->bytes;
}

static inline int64_t alltoall_at(const struct call *call, const int64_t *at, int rank)
{
    return call->collective == COLL_ALLTOALLV ? at[rank] : rank * call->bytes;
}

/* Every process to every process of other nodes in the order of a spread; its node by the node's transport. The nodes
 * are a cuboid with the same number of ranks each. alltoall and alltoallv. */
int torus_exchange(struct coll_comm *comm, const struct call *call, enum spread_kind kind);

/* Seconds: messages of a process, and the fuller of its node's ports and the torus's middle. */
double torus_exchange_cost(const struct coll_comm *comm, int64_t bytes, double messages, double detour);

#endif
