#include <string.h>

#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"
#include "../group/scratch.h"
#include "../node/scan.h"

/* What comes before a node is what the ranks of the nodes before it have: only where nodes' ranks follow one another. */
static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.in_order;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const double bytes = (double)shape->bytes;
    const int levels = cost_levels(comm->topology.nodes, 2);
    return cost_leaders(comm, bytes) + cost_node(comm, bytes * comm->topology.most) +
           cost_fabric(comm, levels, levels * bytes) + cost_combine(comm, levels * bytes);
}

/* The sum of each node goes among leaders; what comes before a node is put in front of its own prefixes. */
static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct reduction *reduction = &call->reduction;
    const struct topology *topology = &comm->topology;
    const bool is_exclusive = call->collective == COLL_EXSCAN;
    const int64_t bytes = call->count * reduction->element;
    const struct group leaders = group_lane(comm, 0);
    char *sum = coll_scratch(comm, SCRATCH_WORK, 2 * bytes + 1);
    if (sum == NULL)
        return MPI_ERR_NO_MEM;
    char *before = sum + bytes;
    int error = node_reduce(comm, 0, call->send, leaders.me >= 0 ? sum : NULL, call->count, reduction);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = group_scan(&leaders, sum, before, call->count, reduction, true);
    if (error == MPI_SUCCESS)
        error = node_scan(comm, call->send, call->receive, call->count, reduction, is_exclusive);
    if (topology->node == 0 || error != MPI_SUCCESS)
        return error;
    error = node_bcast(comm, 0, before, bytes);
    if (error == MPI_SUCCESS && is_exclusive && topology->local == 0)
        memcpy(call->receive, before, (size_t)bytes);
    else if (error == MPI_SUCCESS)
        reduction->combine(reduction, before, call->receive, call->receive, call->count);
    return error;
}

static const char meaning[] =
    "Combined on each node, recursive doubling over one rank of each, and what comes before a node put in front there.";

const struct algorithm scan_leader = {
    .name = "scan_leader",
    .collective = COLL_SCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_four_vectors,
    .run = run,
};

const struct algorithm exscan_leader = {
    .name = "exscan_leader",
    .collective = COLL_EXSCAN,
    .meaning = meaning,
    .reference = "",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_four_vectors,
    .run = run,
};
