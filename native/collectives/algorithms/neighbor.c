/* Neighbourhoods: what a rank has for its neighbours goes to them and to nobody else, and it waits for nobody else. On a node
 * it goes through the queues of an alltoallv, whose other blocks are empty; to other nodes in a message each.
 *
 * Messages of a node's ranks to another node are not put together: a rank that waits for one whose neighbour it is not would
 * wait longer than MPI lets programs think, and nobody but the two knows what they have for each other. */
#include <string.h>

#include "../group/nodes.h"
#include "../node/alltoall.h"
#include "../node/node.h"

static bool cells_apply(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_queues(comm->node);
}

static bool pull_applies(const struct coll_comm *comm, const struct shape *shape)
{
    return cells_apply(comm, shape) && node_pulls(comm->node);
}

static bool direct_applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

/* Nobody knows how long blocks are, nor how many neighbours others have. */
static double cells_cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return 1.4 * comm->costs.node_latency;
}

static double pull_cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return 1.5 * comm->costs.node_latency;
}

static double direct_cost(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_fabric_unpaced(comm, 1, 0) + cells_cost(comm, shape);
}

/* What goes from one rank of the node to another, by local number. */
struct near {
    int64_t *send_bytes, *send_at, *receive_bytes, *receive_at;
};

static bool make_near(struct near *near, struct coll_comm *comm)
{
    const size_t locals = (size_t)comm->topology.locals;
    int64_t *memory = coll_scratch(comm, SCRATCH_WORK, (int64_t)(4 * locals * sizeof *memory));
    if (memory == NULL)
        return false;
    memset(memory, 0, 4 * locals * sizeof *memory);
    *near = (struct near){memory, memory + locals, memory + 2 * locals, memory + 3 * locals};
    return true;
}

static bool is_near(const struct coll_comm *comm, int rank)
{
    return comm->topology.node_of[rank] == comm->topology.node;
}

/* The blocks of this node are noted, to and from others messages are under way. */
static int start(struct coll_comm *comm, const struct call *call, struct near *near, MPI_Request *requests, int *count)
{
    const struct neighbours *around = call->around;
    int error = MPI_SUCCESS;
    for (int i = 0; i < around->sources && error == MPI_SUCCESS; i++) {
        int from = around->source[i];
        if (from < 0 || call->receive_bytes[i] == 0)
            continue;
        if (is_near(comm, from)) {
            near->receive_bytes[comm->topology.local_of[from]] = call->receive_bytes[i];
            near->receive_at[comm->topology.local_of[from]] = call->receive_at[i];
        } else
            error = fabric_start_receive(&comm->fabric, (char *)call->receive + call->receive_at[i],
                                         call->receive_bytes[i], from, FABRIC_DATA, &requests[(*count)++]);
    }
    for (int i = 0; i < around->targets && error == MPI_SUCCESS; i++) {
        int to = around->target[i];
        if (to < 0 || call->send_bytes[i] == 0)
            continue;
        if (is_near(comm, to)) {
            near->send_bytes[comm->topology.local_of[to]] = call->send_bytes[i];
            near->send_at[comm->topology.local_of[to]] = call->send_at[i];
        } else
            error = fabric_start_send(&comm->fabric, (const char *)call->send + call->send_at[i], call->send_bytes[i],
                                      to, FABRIC_DATA, &requests[(*count)++]);
    }
    return error;
}

static int exchange(struct coll_comm *comm, const struct call *call, bool pulls)
{
    const size_t most = (size_t)call->around->sources + (size_t)call->around->targets;
    MPI_Request few[64], *requests = few;
    struct near near;
    int count = 0, error = MPI_SUCCESS;
    if (!make_near(&near, comm))
        return MPI_ERR_NO_MEM;
    if (comm->topology.nodes > 1 && most > sizeof few / sizeof *few &&
        (requests = malloc(most * sizeof *requests)) == NULL)
        return MPI_ERR_NO_MEM;
    error = start(comm, call, &near, requests, &count);
    if (error == MPI_SUCCESS && comm->topology.locals == 1 && near.send_bytes[0] > 0)
        memcpy((char *)call->receive + near.receive_at[0], (const char *)call->send + near.send_at[0],
               (size_t)near.send_bytes[0]);
    else if (error == MPI_SUCCESS && comm->topology.locals > 1)
        error = (pulls ? node_alltoallv_pull : node_alltoallv_cells)(
            comm, call->send, near.send_bytes, near.send_at, call->receive, near.receive_bytes, near.receive_at);
    if (error == MPI_SUCCESS && count > 0)
        error = fabric_wait(&comm->fabric, count, requests);
    if (requests != few)
        free(requests);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return exchange(comm, call, false);
}

static int run_pull(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return exchange(comm, call, true);
}

#define ROWS(word, which)                                                                                              \
    const struct algorithm neighbor_##word##_cells = {                                                                 \
        .name = "neighbor_" #word "_cells",                                                                            \
        .collective = which,                                                                                           \
        .meaning = "Each block beside a flag or piece by piece through cells, between the two ranks alone.",           \
        .reference = "",                                                                                               \
        .applies = cells_apply,                                                                                        \
        .cost = cells_cost,                                                                                            \
        .run = run,                                                                                                    \
    };                                                                                                                 \
    const struct algorithm neighbor_##word##_pull = {                                                                  \
        .name = "neighbor_" #word "_pull",                                                                             \
        .collective = which,                                                                                           \
        .meaning = "Long blocks are read out of their sender's memory, short ones go beside a flag or through cells.", \
        .reference = "",                                                                                               \
        .applies = pull_applies,                                                                                       \
        .cost = pull_cost,                                                                                             \
        .run = run_pull,                                                                                               \
    };                                                                                                                 \
    const struct algorithm neighbor_##word##_direct = {                                                                \
        .name = "neighbor_" #word "_direct",                                                                           \
        .collective = which,                                                                                           \
        .meaning = "A message to each neighbour on another node; those of the node through shared memory meanwhile.",  \
        .reference = "",                                                                                               \
        .applies = direct_applies,                                                                                     \
        .cost = direct_cost,                                                                                           \
        .run = run,                                                                                                    \
    }

ROWS(allgather, COLL_NEIGHBOR_ALLGATHER);
ROWS(allgatherv, COLL_NEIGHBOR_ALLGATHERV);
ROWS(alltoall, COLL_NEIGHBOR_ALLTOALL);
ROWS(alltoallv, COLL_NEIGHBOR_ALLTOALLV);
ROWS(alltoallw, COLL_NEIGHBOR_ALLTOALLW);
