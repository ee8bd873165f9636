#include <string.h>

#include "../group/nodes.h"
#include "../group/rounds.h"

/* Among the leaders every byte travels several times: not for more than this from a node to a node. */
static const int64_t longest = INT64_C(1) << 20;

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    int64_t most = comm->topology.most;
    return nodes_several(comm) && comm->topology.blocked && shape->bytes <= longest / (most * most);
}

/* On the leaders: what all have for all, before and after; three times more on its way. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    return 5 * shape->bytes * comm->ranks * comm->topology.most;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double most = comm->topology.most, each = (double)shape->bytes * most * most;
    struct dissemination bruck = rounds_bruck(comm, comm->topology.nodes, each, 1);
    return bruck.cost + rounds_bruck_spread(comm, comm->topology.nodes, each, bruck.radix) +
           6 * each * comm->topology.nodes * comm->costs.node_byte + 2 * cost_node(comm, 0);
}

/* [a][b] -> [b][a], of things of so many bytes. */
static void transpose(char *to, const char *from, int a, int b, int64_t bytes)
{
    for (int i = 0; i < a && bytes > 0; i++)
        for (int k = 0; k < b; k++)
            memcpy(to + ((int64_t)k * a + i) * bytes, from + ((int64_t)i * b + k) * bytes, (size_t)bytes);
}

/* What the ranks of this node have for everybody becomes what everybody has for them. */
static int between(struct coll_comm *comm, char *work, char *other, int64_t each)
{
    int nodes = comm->topology.nodes, locals = comm->topology.most;
    struct group leaders = group_lane(comm, 0);
    transpose(other, work, locals, nodes, locals * each);
    const int64_t block = (int64_t)locals * locals * each;
    int radix = rounds_bruck(comm, nodes, (double)block, 1).radix;
    int error = group_alltoall_bruck(&leaders, other, work, block, radix);
    transpose(other, work, nodes * locals, locals, each);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    int64_t own = comm->ranks * call->bytes, all = own * comm->topology.most;
    char *work = NULL, *other = NULL;
    int error = MPI_SUCCESS;
    if (comm->topology.local == 0) {
        work = coll_scratch(comm, SCRATCH_WORK, all + 1);
        other = coll_scratch(comm, SCRATCH_OTHER, all + 1);
        if (work == NULL || other == NULL)
            return MPI_ERR_NO_MEM;
    }
    error = node_gather(comm, 0, call->send, work, own, NULL, NULL);
    if (error == MPI_SUCCESS && comm->topology.local == 0)
        error = between(comm, work, other, call->bytes);
    return error == MPI_SUCCESS ? node_scatter(comm, 0, other, call->receive, own, NULL, NULL) : error;
}

const struct algorithm alltoall_leader = {
    .name = "alltoall_leader",
    .collective = COLL_ALLTOALL,
    .meaning =
        "Gathered on each node, Bruck over one rank of each with what nodes have for nodes, scattered on each node.",
    .reference = "Traff, Rougier: MPI collectives and datatypes for hierarchical all-to-all communication (2014)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
