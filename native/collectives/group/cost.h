/* What phases cost, by latency and bandwidth alone: seconds. The ranks of a node share its way into the fabric.
 * What bare numbers count, here and in the rows, and where they were measured: ../README.md. */
#ifndef UNISONO_GROUP_COST_H
#define UNISONO_GROUP_COST_H

#include "../collectives.h"

/* ceil(log(n) / log(radix)) */
static inline int cost_levels(int n, int radix)
{
    int levels = 0;
    for (int64_t reach = 1; reach < n; reach *= radix)
        levels++;
    return levels;
}

/* node_byte of messages of so many bytes: as it was measured, and between two measured sizes in proportion. */
static inline double cost_byte(const struct costs *costs, int64_t bytes)
{
    double below = costs->has_shorter ? costs->shorter[0] : costs->node_byte;
    int64_t from = costs_shorter[0];
    for (int i = 1; i <= COSTS_SHORTER && bytes > from && costs->has_shorter; i++) {
        const int64_t to = i < COSTS_SHORTER ? costs_shorter[i] : COSTS_LONG;
        const double above = i < COSTS_SHORTER ? costs->shorter[i] : costs->node_byte;
        if (bytes < to)
            return below + (above - below) * (double)(bytes - from) / (double)(to - from);
        below = above, from = to;
    }
    return below;
}

/* To combine so many bytes that have come with one's own. */
static inline double cost_combine(const struct coll_comm *comm, double bytes)
{
    return bytes * (comm->costs.combine_byte > 0 ? comm->costs.combine_byte : comm->costs.node_byte);
}

/* `messages` one after the other, which move so many bytes into (or out of) the busiest node. */
static inline double cost_fabric(const struct coll_comm *comm, double messages, double bytes)
{
    return messages * comm->costs.fabric_latency + bytes * comm->costs.fabric_byte;
}

/* To a node beside a rank's own: in the order of nodes, or on a torus. */
static inline double cost_neighbour(const struct costs *costs)
{
    return costs->fabric_near > 0 ? costs->fabric_near : costs->fabric_latency;
}

/* cost_fabric() of messages to neighbours. */
static inline double cost_fabric_near(const struct coll_comm *comm, double messages, double bytes)
{
    return messages * cost_neighbour(&comm->costs) + bytes * comm->costs.fabric_byte;
}

/* What these bytes wait for where links that lead far are shared: a quarter more with each doubling of the distance, which is the
   assumption of radix.h. Half of them go to a neighbour or, `far`, half of all members away; half of the rest to those at twice or half
   the distance, and so on. */
static inline double cost_distance(const struct coll_comm *comm, int members, double bytes, bool far)
{
    int levels = cost_levels(members, 2);
    if (levels < 2)
        return 0;
    return bytes * comm->costs.fabric_byte / 4 * (far ? levels - 2 : 1);
}

/* How many times as long a message takes where all ranks of a node send at once: they share its adapter and, where they have no core
 * each, take turns. */
static inline double cost_sharing(const struct coll_comm *comm)
{
    const double usual = 0.25; /* on virtual nodes over TCP */
    const double each = comm->crowded ? 1 : comm->costs.has_sharing ? comm->costs.sharing : usual;
    return 1 + each * (comm->topology.most - 1);
}

static inline double cost_fabric_shared(const struct coll_comm *comm, double messages, double bytes)
{
    return cost_fabric(comm, messages * cost_sharing(comm), bytes);
}

/* And for large messages that are not paced: what one direction of a connection waits for is behind the data of the
 * other, and senders that meet fill queues. Over TCP 65 to 85 % of a link was reached so. */
static inline double cost_fabric_unpaced(const struct coll_comm *comm, double messages, double bytes)
{
    return cost_fabric_shared(comm, messages, (comm->topology.nodes > 1 ? 1.3 : 1) * bytes);
}

/* What a schedule of one rank of each node puts between groups of nodes, of so many bytes (crossing.h). `near`: by group_near(). */
static inline struct crossing cost_crossing(const struct coll_comm *comm, enum crossing_kind kind, bool near,
                                            double all)
{
    struct crossing crossing = crossing_of(comm->topology.places, kind, near);
    return (struct crossing){crossing.total * all, crossing.fullest * all};
}

static inline struct crossing cost_crossing_both(struct crossing one, struct crossing other)
{
    return (struct crossing){one.total + other.total, one.fullest + other.fullest};
}

/* What so many ranks of one node take to hear of one another, who are together at a depth of it (levels.h), and of two of whom
 * it is node_latency * (first + each * 2). `each` counts what a rank waits for of each one more: in a barrier, of which it was measured, 0.15. */
static inline double cost_meet(const struct coll_comm *comm, int depth, int ranks, double first, double each)
{
    const struct costs *costs = &comm->costs;
    const double barrier = 0.15;
    if (costs->meet_more <= 0)
        return costs->node_latency * (first + each * ranks);
    return costs->meet[depth] * (first + each * 2) + costs->meet_more * each / barrier * (ranks - 2);
}

/* The same of all ranks of a communicator on one node. */
static inline double cost_lines(const struct coll_comm *comm, double first, double each)
{
    return cost_meet(comm, comm->topology.levels.meet[0], comm->ranks, first, each);
}

/* One phase on the node: everybody hears of everybody, and the busiest rank copies so many bytes. */
static inline double cost_node(const struct coll_comm *comm, double bytes)
{
    if (comm->topology.most == 1)
        return 0;
    return cost_meet(comm, 0, comm->topology.most, 1, 0.1) + bytes * comm->costs.node_byte;
}

/* To wait once more for others in a call: where ranks have no CPU each, the ones awaited must be given theirs. */
static inline double cost_wait(const struct coll_comm *comm)
{
    const double usual = 1.5e-6; /* for one change of processes, where nobody measured it */
    if (!comm->crowded)
        return 0;
    return comm->costs.node_wait > 0 ? comm->costs.node_wait : usual;
}

/* Of a reduce_scatter, whose size is that of the vector, what it costs where all blocks are alike. */
static inline double cost_of_block(const struct coll_comm *comm, const struct shape *shape,
                                   double (*cost)(const struct coll_comm *comm, const struct shape *shape))
{
    struct shape block = *shape;
    block.bytes = (shape->bytes + comm->ranks - 1) / comm->ranks;
    return cost(comm, &block);
}

/* Of what a rank sends to all others, the share that leaves the node. On one node alone all messages go through its
 * memory, which is not free either. */
static inline double cost_away(const struct coll_comm *comm)
{
    if (comm->topology.nodes == 1)
        return 1;
    return (double)(comm->ranks - comm->topology.most) / (comm->ranks > 1 ? comm->ranks - 1 : 1);
}

#endif
