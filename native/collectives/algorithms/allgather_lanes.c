#include "../group/allgather_lanes.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.regular;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes;
    double all = (double)shape->bytes * comm->ranks;
    return cost_fabric_near(comm, (nodes - 1) * cost_sharing(comm), all * (nodes - 1) / nodes) +
           nodes * cost_node(comm, all / nodes / 4);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, (double)shape->bytes * comm->ranks);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return allgather_through_lanes(comm, call, segment, false);
}

static const char meaning[] =
    "Each rank of a node hands around a ring of nodes its own blocks; what has come is exchanged on the node meanwhile.";
static const char reference[] =
    "Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication (2020)";

const struct algorithm allgather_lanes = {
    .name = "allgather_lanes",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};

const struct algorithm allgatherv_lanes = {
    .name = "allgatherv_lanes",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
