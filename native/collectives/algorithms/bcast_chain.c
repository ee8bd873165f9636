#include "../group/bcast_segments.h"
#include "../group/nodes.h"

enum { SEGMENT = 32768, CHILDREN = 1 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, piece = bytes < SEGMENT ? bytes : SEGMENT;
    double hops = comm->topology.nodes - 2;
    int children = comm->topology.nodes > CHILDREN ? CHILDREN : 1; /* 4 segments are under way at a time */
    return cost_fabric_near(comm, hops + 1 + bytes / SEGMENT / 4, (hops * piece + bytes) * children) +
           cost_node(comm, piece);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_CHAIN, true, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    return bcast_segments(comm, call, segment, CHILDREN);
}

const struct algorithm bcast_chain = {
    .name = "bcast_chain",
    .collective = COLL_BCAST,
    .meaning = "Segments follow one another along a chain of nodes, and to the ranks of each.",
    .reference = "Watts, van de Geijn: A pipelined broadcast for multidimensional meshes (1995)",
    .segment = SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
