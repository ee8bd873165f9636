/* Nonblocking collectives over several nodes, as schedules over requests: requests/schedule.h. */
#include "../group/cost.h"
#include "../requests/schedule.h"

/* So often up or down the tree of a node, whose ranks send one another messages, and so many messages of the busiest node, one
 * after the other. */
static double cost_of(const struct coll_comm *comm, const struct shape *shape, int trees, int messages)
{
    const int levels = cost_levels(comm->topology.most, 2);
    return trees * levels * (comm->costs.node_latency + comm->costs.node_byte * (double)shape->bytes) +
           cost_fabric(comm, messages, (double)messages * (double)shape->bytes);
}

static double cost_across(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of(comm, shape, 2, cost_levels(comm->topology.nodes, 2));
}

static double cost_up(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of(comm, shape, 1, cost_levels(comm->topology.nodes, 2));
}

static double cost_down(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of(comm, shape, 1, cost_levels(comm->topology.nodes, 4));
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return schedule_run(comm, call);
}

#define LATER(small, large, how, sentence)                                                                             \
    static bool applies_##small(const struct coll_comm *comm, const struct shape *shape)                               \
    {                                                                                                                  \
        return schedule_applies(comm, COLL_##large, shape);                                                            \
    }                                                                                                                  \
    static int64_t scratch_##small(const struct coll_comm *comm, const struct shape *shape)                            \
    {                                                                                                                  \
        (void)comm;                                                                                                    \
        return schedule_scratch(COLL_##large, shape->bytes);                                                           \
    }                                                                                                                  \
    const struct algorithm small##_leader = {                                                                          \
        .name = #small "_leader",                                                                                      \
        .collective = COLL_##large,                                                                                    \
        .meaning = sentence,                                                                                           \
        .reference = "",                                                                                               \
        .applies = applies_##small,                                                                                    \
        .cost = cost_##how,                                                                                            \
        .scratch = scratch_##small,                                                                                    \
        .run = run,                                                                                                    \
    };

LATER(
    iallreduce, IALLREDUCE, across,
    "The ranks of each node combine up a tree, the first ranks exchange by recursive doubling, and the result goes down.")
LATER(
    ibarrier, IBARRIER, across,
    "The ranks of each node report up a tree, the first ranks hear of all others by dissemination, and tell their nodes.")
LATER(ibcast, IBCAST, down, "Down a 4-nomial tree of one rank of each node, and from there down a binomial one.")
LATER(ireduce, IREDUCE, up, "Up a binomial tree of each node, and from there up one of one rank of each node.")
