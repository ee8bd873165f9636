/* Collectives by messages among some ranks of a communicator: the ranks of a node, the same place on every node (a
 * lane), or everybody. What algorithms over several nodes are made of, and, over everybody, algorithms themselves.
 *
 * Members are numbered 0..size-1; every member calls the same phases in the same order. MPI error codes. */
#ifndef UNISONO_GROUP_H
#define UNISONO_GROUP_H

#include "../collectives.h"

struct group {
    struct coll_comm *comm;
    const int *members; /* NULL: member i is rank i */
    const int *first;   /* NULL: member i is members[i]; else of node i, at place `lane` (modulo its ranks) */
    const int *order;   /* NULL: member i is of node i; else of node order[i] */
    int lane, size;
    int me; /* this rank's number; -1: not a member, and may not call anything */
    int tag;
    int scratch; /* the ranks of a node have theirs: a phase of a lane may go on meanwhile */
};

static inline int group_rank(const struct group *group, int member)
{
    if (group->members == NULL)
        return member;
    if (group->first == NULL)
        return group->members[member];
    int node = group->order == NULL ? member : group->order[member];
    int locals = group->first[node + 1] - group->first[node];
    return group->members[group->first[node] + group->lane % locals];
}

static inline struct group group_everybody(struct coll_comm *comm)
{
    return (struct group){
        .comm = comm, .size = comm->ranks, .me = comm->rank, .tag = FABRIC_DATA, .scratch = SCRATCH_MESSAGES};
}

static inline struct group group_node(struct coll_comm *comm)
{
    const struct topology *topology = &comm->topology;
    return (struct group){.comm = comm,
                          .members = topology->members + topology->first[topology->node],
                          .size = topology->locals,
                          .me = topology->local,
                          .tag = FABRIC_NODE,
                          .scratch = SCRATCH_NODE};
}

/* One rank of each node, numbered as the nodes: the one at place `lane`; where a node has fewer, at lane modulo those. */
static inline struct group group_lane(struct coll_comm *comm, int lane)
{
    const struct topology *topology = &comm->topology;
    int mine = topology->local == lane % topology->locals;
    return (struct group){.comm = comm,
                          .members = topology->members,
                          .first = topology->first,
                          .lane = lane,
                          .size = topology->nodes,
                          .me = mine ? topology->node : -1,
                          .tag = FABRIC_DATA,
                          .scratch = SCRATCH_MESSAGES};
}

/* The same, numbered so that nodes that are near one another follow one another (places.h): for phases whose result does not
 * depend on the order of the members. Those of a tree or a ring then pass from group to group as seldom as can be. */
static inline struct group group_near(struct coll_comm *comm, int lane)
{
    const struct places *places = comm->topology.places;
    struct group group = group_lane(comm, lane);
    if (places != NULL && !places->in_order) {
        group.order = places->node;
        group.me = group.me < 0 ? -1 : places->place[group.me];
    }
    return group;
}

/* Of a lane: the number of the member on this node, and the other way round. */
static inline int group_of_node(const struct group *group, int node)
{
    return group->order == NULL ? node : group->comm->topology.places->place[node];
}

static inline int group_node_of(const struct group *group, int member)
{
    return group->order == NULL ? member : group->order[member];
}

/* Where the blocks of the members are: of `each` bytes one after the other, or as said for each. */
struct blocks {
    int64_t each;
    const int64_t *bytes, *at; /* NULL: `each` */
};

static inline int64_t blocks_bytes(const struct blocks *blocks, int i)
{
    return blocks->bytes == NULL ? blocks->each : blocks->bytes[i];
}

static inline int64_t blocks_at(const struct blocks *blocks, int i)
{
    return blocks->bytes == NULL ? i * blocks->each : blocks->at[i];
}

/* Told on every member, with the number of each block that is there, while the next is on its way. */
struct arrival {
    int (*tell)(void *context, int block);
    void *context;
};

static inline int arrival_tell(const struct arrival *arrival, int block)
{
    return arrival == NULL ? MPI_SUCCESS : arrival->tell(arrival->context, block);
}

int group_barrier(const struct group *group);
/* In rounds of several messages at once. */
int group_barrier_radix(const struct group *group);

/* Broadcasts. A k-nomial tree, k = `radix`; a chain (1 child) or a tree of up to 8 children through which segments follow
   one another; one block for each member and then a ring, in which block i is part_of(bytes, i - root, size). */
int group_bcast_tree(const struct group *group, int root, void *data, int64_t bytes, int radix);
int group_bcast_pipeline(const struct group *group, int root, void *data, int64_t bytes, int64_t segment, int children,
                         const struct arrival *arrival);
int group_bcast_scatter(const struct group *group, int root, void *data, int64_t bytes, const struct arrival *arrival);
/* The same without a ring: log2 size messages for it, where the size is a power of two. */
int group_bcast_scatter_doubling(const struct group *group, int root, void *data, int64_t bytes);

/* Linear: the root has one message with every other. `send` (`receive`) of the root may be its own block in place. */
int group_gather(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks);
int group_scatter(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks);
/* Binomial trees, for short blocks. In place: of the member at place p, counted from the root on, the bytes from starts[p]
   up to starts[p + 1]. */
int group_gather_tree(const struct group *group, int root, void *data, const int64_t *starts);
int group_scatter_tree(const struct group *group, int root, void *data, const int64_t *starts);

/* `send` may be the own block in `receive`. By size and number of members one of the two below. */
int group_allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
enum { RING_SEGMENT = 32 << 10 }; /* usual: what most libraries send over TCP without asking the receiver first */
/* Block me first, then me - 1, me - 2 ... Tells of the own one too. In pieces of `segment` bytes, each of which goes on
   when it has come, or (0) whole blocks. */
int group_allgather_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                         int64_t segment, const struct arrival *arrival);
/* ceil(log2 size) messages. */
int group_allgather_bruck(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
/* In rounds of several members at once, far ones first, which have least to exchange. */
int group_allgather_multiplying(const struct group *group, const void *send, void *receive,
                                const struct blocks *blocks);
/* Down trees that begin at every member and are alike, far ones first; nothing comes twice, whatever the number of members. */
int group_allgather_pat(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
/* Along Bine butterflies (radix.h), far ones first. */
int group_allgather_bine(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
/* As many, without copies, near members first; the size is a power of two. In place: of the member at place p, counted from
   member `base` on, the bytes from starts[p] up to starts[p + 1]. */
int group_allgather_doubling(const struct group *group, int base, void *data, const int64_t *starts);
static inline bool group_doubles(int size)
{
    return (size & (size - 1)) == 0;
}

/* As many messages as in a ring, log2 size rounds, the farthest members first. In place; beyond a power of two a member takes part
   by its neighbour. */
int group_allgather_far(const struct group *group, void *data, const struct blocks *blocks);

/* Down two binary trees (two_trees.h), half of it each, piece by piece; those of both by turns are told of, in the order of
   two_trees_piece(). For messages of any size: how long pieces are follows from measured costs. With `places`, which the members
   of group_near() are, the trees go over groups of nodes first (near_trees.h). */
int group_bcast_two_trees(const struct group *group, const struct places *places, int root, void *data, int64_t bytes,
                          const struct arrival *arrival);
/* Elements of a piece; and seconds between one rank of each node, up or down. */
int64_t group_two_trees_piece(const struct coll_comm *comm, const struct places *places, int64_t count,
                              int64_t element);
double group_two_trees_cost(const struct coll_comm *comm, const struct places *places, int64_t bytes);

/* In blocks over a circulant graph (circulant.h), which are told of in their order. How many there are follows from measured costs. */
int group_bcast_circulant(const struct group *group, int root, void *data, int64_t bytes,
                          const struct arrival *arrival);
/* Bytes of a block; and seconds between one rank of each node. */
int64_t group_circulant_piece(const struct coll_comm *comm, int64_t bytes);
double group_circulant_cost(const struct coll_comm *comm, int64_t bytes);

/* All sizes and places are by member. One partner after the other, both ways at once; or up to `most` at once. */
int group_alltoall_pairwise(const struct group *group, const void *send, const struct blocks *out, void *receive,
                            const struct blocks *in);
int group_alltoall_spread(const struct group *group, const void *send, const struct blocks *out, void *receive,
                          const struct blocks *in, int most);
/* Blocks of one size, in ceil(log(size)) rounds to the base `radix`, up to RADIX_MOST: radix - 1 messages in each at once. */
int group_alltoall_bruck(const struct group *group, const void *send, void *receive, int64_t each, int radix);

/* `receive` on the root alone, may be its `send`. In order of the members' numbers unless the operation is commutative.
   Binomial tree; a chain through which segments follow one another, which is in order only if it is to member 0, and
   which says which segment of `send` it needs next; with `rolls` there is room for CHAIN_WINDOW of them in `send`, but on
   the root, segment i in the place of segment i - CHAIN_WINDOW. */
int group_reduce_tree(const struct group *group, int root, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction);
enum { CHAIN_WINDOW = 4 };
int group_reduce_chain(const struct group *group, int root, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction, int64_t segment, const struct arrival *need, bool rolls);
/* Up two binary trees, over groups of nodes first or not, for commutative operations; `receive` on the root alone, may be its
   `send`. */
int group_reduce_two_trees(const struct group *group, const struct places *places, int root, const void *send,
                           void *receive, int64_t count, const struct reduction *reduction);
/* In blocks over a circulant graph, as group_bcast_circulant() backwards, for commutative operations and several members; `receive`
   on the root alone, may be its `send`. */
int group_reduce_circulant(const struct group *group, int root, const void *send, void *receive, int64_t count,
                           const struct reduction *reduction);
/* Bytes that it takes for what comes to a member; it takes a vector, too. */
int64_t group_reduce_circulant_room(const struct coll_comm *comm, int members, int64_t count, int64_t element);
/* Elements in one of its segments. */
int64_t group_chain_piece(int64_t count, const struct reduction *reduction, int64_t segment);
/* The same bits on all. `send` and `receive` may be equal. Recursive doubling, and halving and doubling, are in order of
   the members' numbers; the ring is for commutative operations. */
int group_allreduce_doubling(const struct group *group, const void *send, void *receive, int64_t count,
                             const struct reduction *reduction);
int group_allreduce_halving(const struct group *group, const void *send, void *receive, int64_t count,
                            const struct reduction *reduction);
int group_allreduce_ring(const struct group *group, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction);
/* In rounds of several members at once, as many as the costs of a message say (rounds.h), in order of the members' numbers: whole
   vectors, for short ones; or parts, each of which is combined on one member. */
int group_allreduce_multiplying(const struct group *group, const void *send, void *receive, int64_t count,
                                const struct reduction *reduction);
int group_allreduce_dividing(const struct group *group, const void *send, void *receive, int64_t count,
                             const struct reduction *reduction);
/* Blocks up trees that end at every member, and down the same way; for commutative operations. */
int group_allreduce_pat(const struct group *group, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction);
/* Parts among the pairs of Bine butterflies (radix.h); for commutative operations. */
int group_allreduce_bine(const struct group *group, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction);
/* Both in the order of ORDER_RANKS or ORDER_EXACT, as if the members were the ranks. Equal buffers as above. */
int group_allreduce_ordered(const struct group *group, const void *send, void *receive, int64_t count,
                            const struct reduction *reduction);
int group_reduce_ordered(const struct group *group, int root, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction);
/* Of all members up to this one, or (`is_exclusive`) of all below it, in order: recursive doubling. Member 0 gets nothing then,
   and its `receive` is not looked at. Equal buffers as above. */
int group_scan(const struct group *group, const void *send, void *receive, int64_t count,
               const struct reduction *reduction, bool is_exclusive);
/* Without a message: the vectors of all members, one after the other, into one, in that order. */
int group_combine(const struct group *group, const void *vectors, void *result, int64_t count,
                  const struct reduction *reduction);
/* Member i gets elements [at[i], at[i + 1]) of the combined vector, in order of the members' numbers. `receive` may be
   the own part of `send`. */
int group_reduce_scatter_linear(const struct group *group, const void *send, void *receive, const int64_t *at,
                                const struct reduction *reduction);
/* The same for blocks that lie anywhere in `send`. By size and operation one of the two below. */
int group_reduce_scatter(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                         const struct reduction *reduction);
/* A message a pair, in order. */
int group_reduce_scatter_pairwise(const struct group *group, const void *send, void *receive,
                                  const struct blocks *blocks, const struct reduction *reduction);
/* ceil(log2 size) messages, for commutative operations; `receive` apart from `send`. */
int group_reduce_scatter_halving(const struct group *group, const void *send, void *receive,
                                 const struct blocks *blocks, const struct reduction *reduction);
/* In rounds of several members at once, near ones first, which have most to exchange; in order. Pairwise where blocks differ so
   much that it would take more than three vectors' memory. */
int group_reduce_scatter_dividing(const struct group *group, const void *send, void *receive,
                                  const struct blocks *blocks, const struct reduction *reduction);
/* Up trees that end at every member, near ones first; for commutative operations. Pairwise as above. */
int group_reduce_scatter_pat(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                             const struct reduction *reduction);
/* The same along Bine butterflies; for commutative operations. */
int group_reduce_scatter_bine(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction);
/* Recursive halving with the nearest first, in order, with a message for each block; and around a ring, for commutative ones. */
int group_reduce_scatter_near(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction);
int group_reduce_scatter_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                              const struct reduction *reduction);
/* Whether the first takes halving for a vector of so many bytes. */
static inline bool reduce_scatter_halves(bool commutative, int members, double bytes)
{
    const double block = 4096; /* up to */
    return commutative && members > 2 && bytes <= block * members;
}

#endif
