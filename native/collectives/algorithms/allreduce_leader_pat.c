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
    return cost_leaders(comm, bytes) + cost_pat(comm, comm->topology.nodes, bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return allreduce_through_leaders(comm, call, group_allreduce_pat);
}

const struct algorithm allreduce_leader_pat = {
    .name = "allreduce_leader_pat",
    .collective = COLL_ALLREDUCE,
    .meaning =
        "Combined on each node, parts up trees that end at every leader, near ones first, and down the same way, the node.",
    .reference = "Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale (2025)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_four_vectors,
    .run = run,
};
