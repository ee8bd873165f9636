/* Bytes from every rank of a node to every other, through the queues of pairs.h: what alltoall, alltoallv, gather and
 * scatter of one node are. */
#ifndef UNISONO_NODE_EXCHANGE_H
#define UNISONO_NODE_EXCHANGE_H

#include "pairs.h"

/* What one rank has for, or gets from, each local number. `only` of the node, at the beginning, or (-1) all of them:
 * bytes[i] at at[i], or `each` one after the other where bytes is NULL. */
struct flow {
    int only;
    int64_t each;
    const int64_t *bytes, *at;
};

static inline int64_t flow_bytes(const struct flow *flow, int local)
{
    if (flow->only >= 0)
        return local == flow->only ? flow->each : 0;
    return flow->bytes ? flow->bytes[local] : flow->each;
}

static inline int64_t flow_at(const struct flow *flow, int local)
{
    if (flow->only >= 0)
        return 0;
    return flow->bytes ? flow->at[local] : flow->each * local;
}

/* How one message of so many bytes goes: its sender and its receiver come to the same. */
enum way { WAY_INLINE, WAY_SLOT, WAY_CELLS, WAY_PULL };

static inline enum way exchange_way(int64_t bytes, int64_t slot_bytes, int64_t pull_from)
{
    if (bytes <= PAIR_ROOM)
        return WAY_INLINE;
    return bytes >= pull_from ? WAY_PULL : bytes <= slot_bytes ? WAY_SLOT : WAY_CELLS;
}

/* From how many bytes on it is quicker to read a block where it is than to pass it through cells, as measured on this
 * machine (dispatch/measure_pull.h), the same on all ranks; 0: not measured. INT64_MAX: never. */
extern int64_t exchange_pull_measured;

/* For the ways that end in _pull, where ranks know no size that all agree on. */
static inline int64_t exchange_pull_usual(void)
{
    const int64_t usual = 4096;
    return exchange_pull_measured > 0 ? exchange_pull_measured : usual;
}

/* For a phase of the node. Where nothing was measured: with many ranks the traffic to and from memory decides, and a single
 * copy has half of it. */
static inline int64_t exchange_pull_from(const struct node *node)
{
    const int many_ranks = 16;
    const int64_t many_pull_from = 32 << 10;
    if (!node->pull.works)
        return INT64_MAX;
    if (exchange_pull_measured > 0)
        return exchange_pull_measured;
    return node->ranks >= many_ranks ? many_pull_from : INT64_MAX;
}

/* Messages of fewer bytes than `pull_from` (the same on all ranks of a node; INT64_MAX: never) go through lines, slots
 * and cells, others are read by their receiver where they are. Only when pairs_ready(), and node_pulls() if any is to be
 * read. What a rank has for itself is copied, unless it is there already. MPI error codes. */
int exchange(struct coll_comm *comm, const void *send, const struct flow *out, void *receive, const struct flow *in,
             int64_t pull_from);
/* The same, where no block that this rank sends or gets is longer than PAIR_ROOM: exchange() finds it by itself, where
 * it is known this is quicker. */
int exchange_inline(struct coll_comm *comm, const void *send, const struct flow *out, void *receive,
                    const struct flow *in);

#endif
