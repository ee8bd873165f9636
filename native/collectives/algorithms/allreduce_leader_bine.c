#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes;
    return cost_leaders(comm, bytes) + cost_bine(comm, comm->topology.nodes, bytes);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_BINE_BACK, true, (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_bine);
}

const struct algorithm allreduce_leader_bine = {
    .name = "allreduce_leader_bine",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Combined on each node, halves of halves along Bine butterflies of leaders, near ones first, and back, the node.",
    .reference =
        "De Sensi et al.: Bine trees: enhancing collective operations by optimizing communication locality (2025)",
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .scratch = scratch_vector,
    .run = run,
};
