#include "../group/alltoall_nodes.h"
#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

/* What the nodes that are a rank's business have and get, and its own blocks of a round. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    int64_t most = comm->topology.most,
            rounds = (comm->topology.nodes - 1 + comm->topology.least - 1) / comm->topology.least;
    return (2 * rounds + 2) * most * most * shape->bytes;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int nodes = comm->topology.nodes, most = comm->topology.most, rounds = (nodes + most - 2) / most;
    double own = (double)shape->bytes * comm->ranks;
    /* Of a rank, all at once, so that bytes move while the next messages begin. Fewer ranks than a node has send where there are
       fewer nodes. */
    double sent = (nodes - 1.0) / most, first = sent < 1 ? sent : 1;
    double messages = first + (sent - first) * comm->costs.fabric_message / comm->costs.fabric_latency;
    double begun = cost_fabric_unpaced(comm, messages, 0);
    double moved = cost_fabric_unpaced(comm, first, own * most * (nodes - 1) / nodes);
    return (begun > moved ? begun : moved) + 5 * cost_node(comm, own) + 2 * rounds * cost_node(comm, 0);
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, cost);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    struct counts counts;
    int error = counts_exchange(&counts, comm, call);
    if (error == MPI_SUCCESS)
        error = alltoall_by_nodes(comm, call, &counts);
    counts_free(&counts);
    return error;
}

static const char meaning[] =
    "Each rank of a node has some other nodes as its business: collects for a whole node, sends once, hands out what comes.";
static const char reference[] =
    "Bienz, Olson, Gropp: Node-aware improvements to collectives (2019); Fujitsu, improved collectives of PRIMEHPC FX10 (2014)";

const struct algorithm alltoall_nodes = {
    .name = "alltoall_nodes",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};

const struct algorithm alltoallv_nodes = {
    .name = "alltoallv_nodes",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost_v,
    .scratch = counts_bytes,
    .collects = scratch,
    .run = run,
};
