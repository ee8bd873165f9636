/* What algorithms over several nodes have in common. */
#ifndef UNISONO_GROUP_NODES_H
#define UNISONO_GROUP_NODES_H

#include <stdlib.h>

#include "../node/node.h"
#include "cost.h"
#include "group.h"
#include "schedule.h"

/* Whether combining on nodes first keeps the order that the operation needs. */
static inline bool nodes_keep_order(const struct coll_comm *comm, const struct shape *shape)
{
    return shape->commutative || comm->topology.in_order;
}

static inline bool nodes_several(const struct coll_comm *comm)
{
    return comm->topology.nodes > 1;
}

/* A broadcast to the leaders, which are the root and the ranks in its place on other nodes, and by each on its node. */
static inline int nodes_bcast(struct coll_comm *comm, const struct call *call,
                              int (*to_leaders)(const struct group *leaders, int root, void *data, int64_t bytes))
{
    const struct topology *topology = &comm->topology;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    int error = MPI_SUCCESS;
    if (leaders.me >= 0)
        error =
            to_leaders(&leaders, group_of_node(&leaders, topology->node_of[call->root]), call->receive, call->bytes);
    if (error != MPI_SUCCESS || topology->locals == 1)
        return error;
    return node_bcast(comm, leaders.lane % topology->locals, call->receive, call->bytes);
}

/* The same the other way round: every node's ranks by one of them, then what these have to the root. */
static inline int nodes_reduce(struct coll_comm *comm, const struct call *call,
                               int (*to_root)(const struct group *leaders, int root, const void *send, void *receive,
                                              int64_t count, const struct reduction *reduction))
{
    const struct topology *topology = &comm->topology;
    const struct reduction *reduction = &call->reduction;
    const int lane = topology->local_of[call->root];
    struct group leaders = reduction->commutative ? group_near(comm, lane) : group_lane(comm, lane);
    void *work = NULL;
    if (leaders.me >= 0) {
        work = comm->rank == call->root ? call->receive
                                        : coll_scratch(comm, SCRATCH_WORK, call->count * reduction->element + 1);
        if (work == NULL && call->count > 0)
            return MPI_ERR_NO_MEM;
    }
    int error = node_reduce(comm, leaders.lane % topology->locals, call->send, work, call->count, reduction);
    if (error != MPI_SUCCESS || leaders.me < 0)
        return error;
    return to_root(&leaders, group_of_node(&leaders, topology->node_of[call->root]), work, call->receive, call->count,
                   reduction);
}

/* A vector cut into one part for each lane: there are as many lanes as the smallest node has ranks. By local number; what
   is beyond the lanes has nothing. */
struct lanes {
    int count;
    int64_t *from;       /* locals + 1, in elements */
    int64_t *bytes, *at; /* locals */
    int64_t memory[];
};

/* NULL: no memory. To be given to free(). */
static inline struct lanes *lanes_create(const struct coll_comm *comm, int64_t count, int64_t element)
{
    size_t locals = (size_t)comm->topology.locals;
    struct lanes *lanes = malloc(sizeof *lanes + (3 * locals + 1) * sizeof(int64_t));
    if (lanes == NULL)
        return NULL;
    lanes->count = comm->topology.least;
    lanes->from = lanes->memory;
    lanes->bytes = lanes->from + locals + 1;
    lanes->at = lanes->bytes + locals;
    lanes->from[0] = 0;
    for (int local = 0; local < comm->topology.locals; local++) {
        struct span span = {count, count};
        if (local < lanes->count)
            span = part_of(count, local, lanes->count);
        lanes->from[local + 1] = span.to;
        lanes->bytes[local] = (span.to - span.from) * element;
        lanes->at[local] = span.from * element;
    }
    return lanes;
}

/* Exchanging with every rank of other nodes, node by node: `most` steps are one node further on; in these, each rank of
   the node begins with another rank of that node. */
static inline int nodes_partner_steps(const struct topology *topology)
{
    return (topology->nodes - 1) * topology->most;
}

/* To whom a rank sends in a step (`way` 1), from whom it receives (-1): who sends to it is who has it as a partner then.
   Where nodes differ in size, a step may have only one of both; -1: nobody. */
static inline int nodes_partner(const struct topology *topology, int step, int way)
{
    int nodes = topology->nodes, most = topology->most, round = 1 + step / most;
    int node = (topology->node + way * round + nodes) % nodes;
    int local = (topology->local + way * (step % most) + most) % most;
    return local < topology_locals(topology, node) ? topology_rank(topology, node, local) : -1;
}

/* The blocks of an allgather(v), by rank. */
static inline struct blocks nodes_blocks(const struct call *call)
{
    struct blocks blocks = {.each = call->bytes};
    if (call->collective == COLL_ALLGATHERV)
        blocks = (struct blocks){.bytes = call->receive_bytes, .at = call->receive_at};
    return blocks;
}

#endif
