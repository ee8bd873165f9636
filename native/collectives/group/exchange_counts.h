/* Alltoall(v) over several nodes: how much every rank of this node has for, and gets from, every rank. */
#ifndef UNISONO_GROUP_EXCHANGE_COUNTS_H
#define UNISONO_GROUP_EXCHANGE_COUNTS_H

#include <math.h>

#include "group.h"

/* For alltoallv the ranks of the node tell one another; what other nodes' ranks have is not needed. */
struct counts {
    int ranks;
    int64_t each;      /* alltoall; then the tables are NULL */
    int64_t *out, *in; /* [local number][rank] */
};

/* To be freed with counts_free whatever it says. */
int counts_exchange(struct counts *counts, struct coll_comm *comm, const struct call *call);
void counts_free(struct counts *counts);

static inline int64_t counts_out(const struct counts *counts, int local, int rank)
{
    return counts->out == NULL ? counts->each : counts->out[(int64_t)local * counts->ranks + rank];
}

static inline int64_t counts_in(const struct counts *counts, int local, int rank)
{
    return counts->in == NULL ? counts->each : counts->in[(int64_t)local * counts->ranks + rank];
}

/* Both tables, on the node with most ranks. */
static inline int64_t counts_bytes(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return 2 * (int64_t)sizeof(int64_t) * comm->topology.most * comm->ranks;
}

/* The cost of an alltoallv, of which no size is known to all ranks: of small and of large blocks alike. */
static inline double counts_cost(const struct coll_comm *comm, const struct shape *shape,
                                 double (*cost)(const struct coll_comm *comm, const struct shape *shape))
{
    struct shape small = *shape, large = *shape;
    small.bytes = 64;
    large.bytes = 32 << 10;
    return sqrt(cost(comm, &small) * cost(comm, &large));
}

/* The call's own blocks, by rank. */
static inline struct blocks counts_send(const struct call *call)
{
    struct blocks blocks = {.each = call->bytes};
    if (call->collective == COLL_ALLTOALLV)
        blocks = (struct blocks){.bytes = call->send_bytes, .at = call->send_at};
    return blocks;
}

static inline struct blocks counts_receive(const struct call *call)
{
    struct blocks blocks = {.each = call->bytes};
    if (call->collective == COLL_ALLTOALLV)
        blocks = (struct blocks){.bytes = call->receive_bytes, .at = call->receive_at};
    return blocks;
}

/* Among the ranks of this node, of the call's own buffers. `room`: 4 numbers for each of them. */
int exchange_on_node(struct coll_comm *comm, const struct call *call, int64_t *room);

#endif
