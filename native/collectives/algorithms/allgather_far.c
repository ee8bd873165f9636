#include "../group/allgather_lanes.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.regular;
}

/* A message for each block, several under way at a time; both ways on one connection: 1.1. One beyond a power of two gets all in
   the end. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int nodes = comm->topology.nodes;
    const double all = (double)shape->bytes * comm->ranks, away = all * (nodes - 1) / nodes;
    const double messages = cost_levels(power_below(nodes), 2) + (nodes - 1) / 4.;
    const double again = power_below(nodes) == nodes ? 0 : 1;
    return cost_fabric_shared(comm, messages * (1 + again), (1.1 + again) * away) +
           nodes * cost_node(comm, all / nodes / 4);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_FAR, true, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return allgather_through_lanes(comm, call, segment, true);
}

static const char meaning[] =
    "Each rank of a node collects the blocks of its lane by recursive doubling with the farthest nodes first, so that "
    "most goes between nodes that are near; then they are exchanged on the node.";
static const char reference[] =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)";

const struct algorithm allgather_far = {
    .name = "allgather_far",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};

const struct algorithm allgatherv_far = {
    .name = "allgatherv_far",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
