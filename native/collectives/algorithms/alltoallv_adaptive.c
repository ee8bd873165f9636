#include "../group/alltoall_nodes.h"
#include "../group/nodes.h"

extern const struct algorithm alltoall_nodes, alltoall_paced, alltoallv_paced;

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm) && comm->topology.most > 1;
}

static double quicker(const struct coll_comm *comm, const struct shape *shape)
{
    double nodes = alltoall_nodes.cost(comm, shape), paced = alltoall_paced.cost(comm, shape);
    return nodes < paced ? nodes : paced;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, quicker) + 2 * cost_node(comm, 8.0 * comm->ranks);
}

/* Bytes by rank: of what goes through the nodes' own messages, and of what is paced. */
struct split {
    int64_t *out[2], *in[2];
    bool any[2]; /* to or from other nodes, of all ranks of this node */
};
enum { LITTLE, MUCH };

static int64_t between(const struct counts *counts, const struct topology *topology, int node, bool leaves)
{
    int64_t sum = 0;
    for (int local = 0; local < topology->locals; local++)
        for (int i = topology->first[node]; i < topology->first[node + 1]; i++) {
            int rank = topology->members[i];
            sum += leaves ? counts_out(counts, local, rank) : counts_in(counts, local, rank);
        }
    return sum;
}

/* Both nodes know what goes from one to the other, and so find the same. */
static int which(const struct coll_comm *comm, int node, int64_t bytes)
{
    int pairs = comm->topology.locals * topology_locals(&comm->topology, node);
    struct shape mean = {.bytes = bytes / pairs, .element = 1, .commutative = true};
    return alltoall_nodes.cost(comm, &mean) <= alltoall_paced.cost(comm, &mean) ? LITTLE : MUCH;
}

/* Of one node, one way. What is not little is taken out of the counts. */
static void divide(const struct coll_comm *comm, const struct call *call, struct counts *counts, struct split *split,
                   int node, bool leaves)
{
    const struct topology *topology = &comm->topology;
    int64_t bytes = between(counts, topology, node, leaves);
    int way = which(comm, node, bytes);
    split->any[way] = split->any[way] || bytes > 0;
    for (int i = topology->first[node]; i < topology->first[node + 1]; i++) {
        int rank = topology->members[i];
        (leaves ? split->out : split->in)[way][rank] = (leaves ? call->send_bytes : call->receive_bytes)[rank];
        for (int local = 0; local < topology->locals && way == MUCH; local++)
            (leaves ? counts->out : counts->in)[(int64_t)local * counts->ranks + rank] = 0;
    }
}

/* The node's own blocks go with the first that there is. */
static void keep_own(const struct coll_comm *comm, const struct call *call, const struct split *split)
{
    const struct topology *topology = &comm->topology;
    int way = split->any[LITTLE] ? LITTLE : MUCH;
    for (int i = topology->first[topology->node]; i < topology->first[topology->node + 1]; i++) {
        int rank = topology->members[i];
        split->out[way][rank] = call->send_bytes[rank];
        split->in[way][rank] = call->receive_bytes[rank];
    }
}

static int run_divided(struct coll_comm *comm, const struct call *call, struct counts *counts, struct split *split,
                       int64_t segment)
{
    struct call part[2] = {*call, *call};
    int error = MPI_SUCCESS;
    for (int node = 0; node < comm->topology.nodes; node++)
        for (int leaves = 0; leaves < 2 && node != comm->topology.node; leaves++)
            divide(comm, call, counts, split, node, leaves);
    keep_own(comm, call, split);
    for (int way = 0; way < 2; way++) {
        part[way].send_bytes = split->out[way];
        part[way].receive_bytes = split->in[way];
    }
    if (split->any[LITTLE])
        error = alltoall_by_nodes(comm, &part[LITTLE], counts);
    if (error == MPI_SUCCESS && (split->any[MUCH] || !split->any[LITTLE]))
        error = alltoallv_paced.run(comm, &part[MUCH], segment);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    size_t ranks = (size_t)comm->ranks;
    struct counts counts;
    struct split split = {.any = {false, false}};
    int64_t *memory = calloc(4 * ranks, sizeof *memory);
    int error = counts_exchange(&counts, comm, call);
    if (error == MPI_SUCCESS && memory == NULL)
        error = MPI_ERR_NO_MEM;
    for (size_t way = 0; way < 2 && memory != NULL; way++) {
        split.out[way] = memory + way * ranks;
        split.in[way] = memory + (2 + way) * ranks;
    }
    if (error == MPI_SUCCESS)
        error = run_divided(comm, call, &counts, &split, segment);
    counts_free(&counts);
    free(memory);
    return error;
}

const struct algorithm alltoallv_adaptive = {
    .name = "alltoallv_adaptive",
    .collective = COLL_ALLTOALLV,
    .meaning = "The ranks of a node tell one another what they have; to each other node it goes as in `nodes` where "
               "that is little, as in `paced` where it is much.",
    .reference = "",
    .segment = 32 << 10,
    .applies = applies,
    .cost = cost,
    .scratch = counts_bytes,
    .run = run,
};
