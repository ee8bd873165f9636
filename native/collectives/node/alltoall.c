#include "alltoall.h"

#include "../group/group.h"
#include "exchange.h"
#include "messages.h"
#include "node.h"
#include "trade.h"

static int by_messages(struct coll_comm *comm, const void *send, void *receive, int64_t each)
{
    struct group group = group_node(comm);
    struct blocks blocks = {.each = each};
    return group_alltoall_pairwise(&group, send, &blocks, receive, &blocks);
}

int node_alltoall_inline(struct coll_comm *comm, const void *send, void *receive, int64_t each)
{
    if (!pairs_ready(comm))
        return by_messages(comm, send, receive, each);
    const struct flow blocks = {-1, each, NULL, NULL};
    return exchange_inline(comm, send, &blocks, receive, &blocks);
}

static int alltoall(struct coll_comm *comm, const void *send, void *receive, int64_t each, int64_t pull_from)
{
    const struct flow blocks = {-1, each, NULL, NULL};
    if (node_trades_blocks(comm, &blocks, &blocks, pull_from))
        return node_trade_blocks(comm, send, &blocks, receive, &blocks);
    if (!pairs_ready(comm))
        return by_messages(comm, send, receive, each);
    return exchange(comm, send, &blocks, receive, &blocks, pull_from);
}

int node_alltoall_cells(struct coll_comm *comm, const void *send, void *receive, int64_t each)
{
    return alltoall(comm, send, receive, each, INT64_MAX);
}

int node_alltoall_pull(struct coll_comm *comm, const void *send, void *receive, int64_t each)
{
    return alltoall(comm, send, receive, each, PULL_FROM);
}

static int alltoallv(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                     void *receive, const int64_t *receive_bytes, const int64_t *receive_at, int64_t pull_from)
{
    const struct flow out = {-1, 0, send_bytes, send_at}, in = {-1, 0, receive_bytes, receive_at};
    if (node_trades_blocks(comm, &out, &in, pull_from))
        return node_trade_blocks(comm, send, &out, receive, &in);
    if (!pairs_ready(comm))
        return messages_alltoallv(comm, send, send_bytes, send_at, receive, receive_bytes, receive_at);
    int64_t longest = 0;
    for (int local = 0; local < comm->node->ranks; local++) {
        longest = send_bytes[local] > longest ? send_bytes[local] : longest;
        longest = receive_bytes[local] > longest ? receive_bytes[local] : longest;
    }
    if (longest <= PAIR_ROOM)
        return exchange_inline(comm, send, &out, receive, &in);
    return exchange(comm, send, &out, receive, &in, pull_from);
}

int node_alltoallv_cells(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                         void *receive, const int64_t *receive_bytes, const int64_t *receive_at)
{
    return alltoallv(comm, send, send_bytes, send_at, receive, receive_bytes, receive_at, INT64_MAX);
}

int node_alltoallv_pull(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                        void *receive, const int64_t *receive_bytes, const int64_t *receive_at)
{
    return alltoallv(comm, send, send_bytes, send_at, receive, receive_bytes, receive_at, exchange_pull_usual());
}

int node_alltoallv(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                   void *receive, const int64_t *receive_bytes, const int64_t *receive_at)
{
    return alltoallv(comm, send, send_bytes, send_at, receive, receive_bytes, receive_at,
                     exchange_pull_from(comm->node));
}
