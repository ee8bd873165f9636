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

/* A node gathers a part of the blocks, which all of it get in the end. */
static double cost_gathered(const struct coll_comm *comm, const struct shape *shape)
{
    const struct topology *topology = &comm->topology;
    const double all = (double)shape->bytes * topology->ranks, here = (double)shape->bytes * topology->most;
    const int levels = cost_levels(topology->most, 2);
    return 2 * levels * comm->costs.node_latency + comm->costs.node_byte * (here + levels * all) +
           cost_fabric(comm, cost_levels(topology->nodes, 2), all - here);
}

/* The vector goes up a node, and all but a node's part of it to others, in halves. */
static double cost_reduced(const struct coll_comm *comm, double vector)
{
    const struct topology *topology = &comm->topology;
    const int levels = cost_levels(topology->most, 2);
    return (levels + topology->most - 1) * comm->costs.node_latency + levels * comm->costs.node_byte * vector +
           cost_fabric(comm, cost_levels(topology->nodes, 2), vector - vector / topology->nodes) +
           cost_combine(comm, (levels + 1) * vector);
}

static double cost_scattered(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_reduced(comm, (double)shape->bytes);
}

static double cost_scattered_blocks(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_reduced(comm, (double)shape->bytes * comm->ranks);
}

/* Through one rank of each node; the root's last messages have half of all blocks. */
static double cost_rooted(const struct coll_comm *comm, const struct shape *shape)
{
    const struct topology *topology = &comm->topology;
    const double all = (double)shape->bytes * topology->ranks;
    return (topology->most - 1) * comm->costs.node_latency + comm->costs.node_byte * all +
           cost_fabric(comm, cost_levels(topology->nodes, 2), all);
}

/* The first rank of a node has all blocks of it in its hands, four times. */
static double cost_collected(const struct coll_comm *comm, const struct shape *shape)
{
    const struct topology *topology = &comm->topology;
    const double all = (double)shape->bytes * topology->ranks * topology->most;
    return 2 * (topology->most - 1) * comm->costs.node_latency + 4 * comm->costs.node_byte * all +
           cost_fabric(comm, topology->nodes - 1, all);
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
        return schedule_scratch(comm, COLL_##large, shape->bytes);                                                     \
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

#define GATHERED                                                                                                       \
    "The blocks of each node go up a tree, the first ranks exchange by Bruck's algorithm, and all blocks go down."
LATER(iallgather, IALLGATHER, gathered, GATHERED)
LATER(iallgatherv, IALLGATHERV, gathered, GATHERED)
LATER(
    ialltoall, IALLTOALL, collected,
    "The first rank of each node collects what its ranks have for others, exchanges with the other nodes, and hands out.")
LATER(
    iallreduce, IALLREDUCE, across,
    "The ranks of each node combine up a tree, the first ranks exchange by recursive doubling, and the result goes down.")
LATER(
    ibarrier, IBARRIER, across,
    "The ranks of each node report up a tree, the first ranks hear of all others by dissemination, and tell their nodes.")
LATER(ibcast, IBCAST, down, "Down a 4-nomial tree of one rank of each node, and from there down a binomial one.")
#define SCANNED                                                                                                        \
    "Doubling on each node, then by the last ranks of nodes; what comes before a node goes from its last rank to the " \
    "others. Where nodes' ranks do not follow one another: doubling by all ranks."
LATER(iexscan, IEXSCAN, across, SCANNED)
LATER(igather, IGATHER, rooted, "One rank of each node collects its blocks, and they go up a binomial tree of these.")
LATER(iscatter, ISCATTER, rooted,
      "Blocks go down a binomial tree of one rank of each node, and from there to each rank.")
LATER(ireduce, IREDUCE, up, "Up a binomial tree of each node, and from there up one of one rank of each node.")
#define SCATTERED                                                                                                       \
    "The ranks of each node combine up a tree, the first ranks exchange by Bruck's algorithm backwards, and each rank " \
    "gets its block."
LATER(ireduce_scatter, IREDUCE_SCATTER, scattered, SCATTERED)
LATER(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, scattered_blocks, SCATTERED)
LATER(iscan, ISCAN, across, SCANNED)
