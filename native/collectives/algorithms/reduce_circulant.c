#include "../group/circulant.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

/* Every byte is combined once on its way. No `crosses`, as bcast_circulant.c says. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const double bytes = (double)shape->bytes;
    return group_circulant_cost(comm, shape->bytes) + cost_combine(comm, bytes) +
           cost_node(comm, bytes * comm->topology.most);
}

/* A leader's vector, another that grows from what comes, and room for this. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    const int64_t element = shape->element > 0 ? shape->element : 1;
    return 2 * shape->bytes + group_reduce_circulant_room(comm, comm->topology.nodes, shape->bytes / element, element);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return nodes_reduce(comm, call, group_reduce_circulant);
}

const struct algorithm reduce_circulant = {
    .name = "reduce_circulant",
    .collective = COLL_REDUCE,
    .meaning =
        "Combined on each node; blocks then go over a circulant graph of nodes, as those of a bcast do, backwards.",
    .reference = CIRCULANT_REFERENCE,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
