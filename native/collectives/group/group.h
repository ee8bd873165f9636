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
    int lane, size;
    int me; /* this rank's number; -1: not a member, and may not call anything */
    int tag;
};

static inline int group_rank(const struct group *group, int member)
{
    if (group->members == NULL)
        return member;
    if (group->first == NULL)
        return group->members[member];
    int locals = group->first[member + 1] - group->first[member];
    return group->members[group->first[member] + group->lane % locals];
}

static inline struct group group_everybody(struct coll_comm *comm)
{
    return (struct group){.comm = comm, .size = comm->ranks, .me = comm->rank, .tag = FABRIC_DATA};
}

static inline struct group group_node(struct coll_comm *comm)
{
    const struct topology *topology = &comm->topology;
    return (struct group){.comm = comm,
                          .members = topology->members + topology->first[topology->node],
                          .size = topology->locals,
                          .me = topology->local,
                          .tag = FABRIC_NODE};
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
                          .tag = FABRIC_DATA};
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

int group_barrier(const struct group *group);

/* Binomial tree. */
int group_bcast_tree(const struct group *group, int root, void *data, int64_t bytes);

/* Linear: the root has one message with every other. `send` (`receive`) of the root may be its own block in place. */
int group_gather(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks);
int group_scatter(const struct group *group, int root, const void *send, void *receive, const struct blocks *blocks);

/* `send` may be the own block in `receive`. By size and number of members one of the two below. */
int group_allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
int group_allgather_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks);
/* Blocks of one size: ceil(log2 size) messages. */
int group_allgather_bruck(const struct group *group, const void *send, void *receive, int64_t each);

/* One partner after the other, both ways at once. All sizes and places are by member. */
int group_alltoallv(const struct group *group, const void *send, const struct blocks *out, void *receive,
                    const struct blocks *in);

/* Binomial tree; `receive` on the root alone, may be its `send`. In order of the members' numbers unless the operation is
   commutative. */
int group_reduce_tree(const struct group *group, int root, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction);
/* In order of the members' numbers, and the same bits on all. `send` and `receive` may be equal. */
int group_allreduce_doubling(const struct group *group, const void *send, void *receive, int64_t count,
                             const struct reduction *reduction);
/* Member i gets elements [at[i], at[i + 1]) of the combined vector, in order of the members' numbers. `receive` may be
   the own part of `send`. */
int group_reduce_scatter_linear(const struct group *group, const void *send, void *receive, const int64_t *at,
                                const struct reduction *reduction);

#endif
