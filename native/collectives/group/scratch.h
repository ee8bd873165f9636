/* What a call takes beside its buffers, in bytes, on the rank that takes most (struct algorithm, `scratch`). */
#ifndef UNISONO_GROUP_SCRATCH_H
#define UNISONO_GROUP_SCRATCH_H

#include "../collectives.h"

/* Whole vectors. */
static inline int64_t scratch_vector(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return shape->bytes;
}

static inline int64_t scratch_two_vectors(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return 2 * shape->bytes;
}

static inline int64_t scratch_three_vectors(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return 3 * shape->bytes;
}

static inline int64_t scratch_four_vectors(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return 4 * shape->bytes;
}

/* The part of it that one of several ranks of a node drives through the network. */
static inline int64_t scratch_half(const struct coll_comm *comm, const struct shape *shape)
{
    (void)comm;
    return shape->bytes / 2;
}

/* A ring's block of it. */
static inline int64_t scratch_ring(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->bytes / comm->ranks;
}

static inline int64_t scratch_ring_of_nodes(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->bytes / comm->topology.nodes;
}

/* The part that each rank of a node has combined, and room for what comes. */
static inline int64_t scratch_lanes(const struct coll_comm *comm, const struct shape *shape)
{
    return 2 * shape->bytes / comm->topology.least;
}

/* As much as all ranks have. */
static inline int64_t scratch_all(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->bytes * comm->ranks;
}

static inline int64_t scratch_all_twice(const struct coll_comm *comm, const struct shape *shape)
{
    return 2 * scratch_all(comm, shape);
}

static inline int64_t scratch_all_thrice(const struct coll_comm *comm, const struct shape *shape)
{
    return 3 * scratch_all(comm, shape);
}

static inline int64_t scratch_all_four_times(const struct coll_comm *comm, const struct shape *shape)
{
    return 4 * scratch_all(comm, shape);
}

/* Where blocks are sorted by node. */
static inline int64_t scratch_by_node(const struct coll_comm *comm, const struct shape *shape)
{
    return comm->topology.in_order ? 0 : scratch_all(comm, shape);
}

/* And gathered among leaders in the order in which it comes. */
static inline int64_t scratch_by_leaders(const struct coll_comm *comm, const struct shape *shape)
{
    return scratch_by_node(comm, shape) + scratch_all(comm, shape);
}

#endif
