/* How many bytes one call moves, as numbers: no MPI here, so every rule is tested by itself.
 *
 * `sent` and `received` follow Score-P's convention: what the call means for this rank, not how a library does it, the
 * rank itself counted like any other peer; with MPI_IN_PLACE the rank's own block does not move, so it is not counted.
 * `size` is the message size as IMB counts it. NOT_KNOWN where there is none. Clauses are those of MPI 4.1. */
#ifndef UNISONO_AMOUNT_H
#define UNISONO_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum { NOT_KNOWN = -1 };

struct amount {
    int64_t size;
    int64_t sent;
    int64_t received;
};

/* What this rank is to a rooted collective. On an intercommunicator the root group's others take no part. */
enum role { ROLE_OTHER, ROLE_ROOT, ROLE_NONE };

static inline struct amount amount_none(void)
{
    return (struct amount){NOT_KNOWN, 0, 0};
}

/* What is not known stays so. */
static inline int64_t amount_sum(int64_t before, int64_t more)
{
    return before < 0 || more < 0 ? NOT_KNOWN : before + more;
}

static inline struct amount amount_of(int64_t size, int64_t sent, int64_t received)
{
    return (struct amount){size, sent, received};
}

/* 6.3 Barrier: no data. */
static inline struct amount amount_barrier(void)
{
    return amount_of(0, 0, 0);
}

/* 6.4 Broadcast: the root's vector goes to every peer; in Score-P's convention also to itself. */
static inline struct amount amount_bcast(enum role role, int peers, bool inter, int64_t vector)
{
    if (role == ROLE_NONE)
        return amount_of(vector, 0, 0);
    return amount_of(vector, role == ROLE_ROOT ? peers * vector : 0, role == ROLE_ROOT && inter ? 0 : vector);
}

/* 6.5 Gather: one block from every peer to the root. In place: the root's own block is there already. */
static inline struct amount amount_gather(enum role role, int peers, int64_t sent_block, int64_t received_block,
                                          bool in_place, bool inter)
{
    if (role == ROLE_NONE)
        return amount_of(NOT_KNOWN, 0, 0);
    if (role == ROLE_OTHER)
        return amount_of(sent_block, sent_block, 0);
    return amount_of(received_block, in_place || inter ? 0 : sent_block, (peers - in_place) * received_block);
}

/* 6.5 Gatherv: as Gather; `total` is the sum of all blocks and `own` the root's among them. Only the root knows the
 * mean, so the others' size is that of their own block. */
static inline struct amount amount_gatherv(enum role role, int peers, int64_t sent_block, int64_t total, int64_t own,
                                           bool in_place, bool inter)
{
    if (role == ROLE_NONE)
        return amount_of(NOT_KNOWN, 0, 0);
    if (role == ROLE_OTHER)
        return amount_of(sent_block, sent_block, 0);
    return amount_of(peers > 0 ? total / peers : 0, in_place || inter ? 0 : sent_block, total - (in_place ? own : 0));
}

/* 6.6 Scatter, Scatterv: Gather the other way round. */
static inline struct amount amount_reversed(struct amount amount)
{
    return amount_of(amount.size, amount.received, amount.sent);
}

/* 6.7 Allgather: this rank's block to every peer, one from each. In place: all but its own, and the block is the one
 * it receives from each. */
static inline struct amount amount_allgather(int peers, int64_t sent_block, int64_t received_block, bool in_place)
{
    if (in_place)
        return amount_of(received_block, (peers - 1) * received_block, (peers - 1) * received_block);
    return amount_of(sent_block, peers * sent_block, peers * received_block);
}

/* 6.7 Allgatherv: `total` is the sum of what all contribute, `own` this rank's part of it; the size is the mean. */
static inline struct amount amount_allgatherv(int peers, int64_t sent_block, int64_t total, int64_t own, bool in_place)
{
    int64_t mean = peers > 0 ? total / peers : 0;
    if (in_place)
        return amount_of(mean, (peers - 1) * own, total - own);
    return amount_of(mean, peers * sent_block, total);
}

/* 6.8 Alltoall: one block to and from every peer. In place: all but its own. */
static inline struct amount amount_alltoall(int peers, int64_t sent_block, int64_t received_block, bool in_place)
{
    return amount_allgather(peers, sent_block, received_block, in_place);
}

/* 6.8 Alltoallv, Alltoallw: sums of the blocks to and from all peers; the size is the mean block sent. In place: what
 * is received replaces what was sent, less the own block. */
static inline struct amount amount_alltoallv(int peers, int64_t sent_total, int64_t received_total, int64_t own,
                                             bool in_place)
{
    if (peers <= 0)
        return amount_of(0, 0, 0);
    if (in_place)
        return amount_of(received_total / peers, received_total - own, received_total - own);
    return amount_of(sent_total / peers, sent_total, received_total);
}

/* 6.9.1 Reduce: every rank's vector to the root. In place: the root's own is there already. */
static inline struct amount amount_reduce(enum role role, int peers, int64_t vector, bool in_place, bool inter)
{
    struct amount amount = amount_gather(role, peers, vector, vector, in_place, inter);
    amount.size = vector;
    return amount;
}

/* 6.9.6 Allreduce: the vector to and from every peer. */
static inline struct amount amount_allreduce(int peers, int64_t vector, bool in_place)
{
    return amount_of(vector, (peers - in_place) * vector, (peers - in_place) * vector);
}

/* 6.10.1 Reduce_scatter_block: a block for every peer, and one from each to this rank. */
static inline struct amount amount_reduce_scatter_block(int peers, int64_t block, bool in_place)
{
    return amount_of(block, (peers - in_place) * block, (peers - in_place) * block);
}

/* 6.10.2 Reduce_scatter: blocks of different lengths; the size is the whole vector. */
static inline struct amount amount_reduce_scatter(int peers, int64_t total, int64_t own, bool in_place)
{
    return amount_of(total, total - (in_place ? own : 0), (peers - in_place) * own);
}

/* 6.11.1 Scan: from this rank to itself and all after it, from itself and all before it. */
static inline struct amount amount_scan(int rank, int ranks, int64_t vector, bool in_place)
{
    return amount_of(vector, (ranks - rank - in_place) * vector, (rank + 1 - in_place) * vector);
}

/* 6.11.2 Exscan: the same without itself. */
static inline struct amount amount_exscan(int rank, int ranks, int64_t vector)
{
    return amount_of(vector, (ranks - rank - 1) * vector, rank * vector);
}

/* 8.6 Neighborhood allgather, alltoall: a block to each of `out` neighbours and from each of `in`. */
static inline struct amount amount_neighbor(int out, int in, int64_t sent_block, int64_t received_block)
{
    return amount_of(out > 0 ? sent_block : received_block, out * sent_block, in * received_block);
}

/* 8.6 Neighborhood v and w variants: sums over the neighbours; the size is the mean block sent. */
static inline struct amount amount_neighborv(int out, int64_t sent_total, int64_t received_total)
{
    return amount_of(out > 0 ? sent_total / out : 0, sent_total, received_total);
}

/* 3.2 Point-to-point, 12.3 one-sided: the message. 3.10: to or from MPI_PROC_NULL there is none. */
static inline struct amount amount_sent(int64_t bytes)
{
    return amount_of(bytes, bytes, 0);
}

static inline struct amount amount_received(int64_t bytes)
{
    return amount_of(bytes, 0, bytes);
}

#endif
