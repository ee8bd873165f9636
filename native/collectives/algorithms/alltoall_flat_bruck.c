#include "../group/nodes.h"
#include "../group/rounds.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

/* Before the rounds and after them all blocks are copied once. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double each = (double)shape->bytes;
    struct dissemination bruck = rounds_bruck(comm, comm->ranks, each, comm->topology.most);
    return bruck.cost + rounds_bruck_spread(comm, comm->ranks, each * comm->topology.most, bruck.radix) +
           2 * comm->ranks * each * comm->costs.node_byte;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct group all = group_everybody(comm);
    int radix = rounds_bruck(comm, comm->ranks, (double)call->bytes, comm->topology.most).radix;
    return group_alltoall_bruck(&all, call->send, call->receive, call->bytes, radix);
}

const struct algorithm alltoall_flat_bruck = {
    .name = "alltoall_flat_bruck",
    .collective = COLL_ALLTOALL,
    .meaning = "Bruck over all ranks, as if each had a node to itself, with several messages at once.",
    .reference =
        "Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_thrice,
    .run = run,
};
