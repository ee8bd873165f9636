#include "../group/nodes.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const double others = (double)shape->bytes * (comm->ranks - 1);
    return cost_fabric(comm, cost_levels(comm->ranks, 2), others) +
           cost_distance(comm, comm->topology.nodes, others, true);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    struct blocks blocks = nodes_blocks(call);
    return group_allgather_bruck(&all, call->send, call->receive, &blocks);
}

static const char meaning[] = "Bruck over all ranks, as if each had a node to itself.";
static const char reference[] =
    "Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997)";

const struct algorithm allgather_flat_bruck = {
    .name = "allgather_flat_bruck",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all,
    .run = run,
};

const struct algorithm allgatherv_flat_bruck = {
    .name = "allgatherv_flat_bruck",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all,
    .run = run,
};
