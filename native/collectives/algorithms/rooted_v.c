#include "../group/cost.h"
#include "../group/exchange_counts.h"
#include "../group/rooted.h"
#include "../node/node.h"
#include "../node/rooted.h"

static bool cells_apply(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->topology.nodes == 1 && node_has_queues(comm->node);
}

static bool pull_applies(const struct coll_comm *comm, const struct shape *shape)
{
    return cells_apply(comm, shape) && node_pulls(comm->node);
}

/* Nobody knows how long blocks are. */
static double cells_cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 0.8, 0.15);
}

static double pull_cost(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_lines(comm, 1, 0.2);
}

static double direct_cost(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, rooted_direct_cost);
}

static int gather(struct coll_comm *comm, const struct call *call, bool pulls)
{
    return node_gatherv(comm, call->root, call->send, call->own, call->receive, call->receive_bytes, call->receive_at,
                        pulls);
}

static int scatter(struct coll_comm *comm, const struct call *call, bool pulls)
{
    return node_scatterv(comm, call->root, call->send, call->send_bytes, call->send_at, call->receive, call->own,
                         pulls);
}

static int gather_cells(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return gather(comm, call, false);
}

static int gather_pull(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return gather(comm, call, true);
}

static int scatter_cells(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return scatter(comm, call, false);
}

static int scatter_pull(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return scatter(comm, call, true);
}

/* The ranks of the root's node share memory; the others' messages come meanwhile. */
static int gather_direct(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    if (topology->node != topology->node_of[call->root])
        return fabric_send(&comm->fabric, call->send, call->own, call->root, FABRIC_DATA);
    struct rooted_others others;
    int error = rooted_start(&others, comm, call);
    if (error == MPI_SUCCESS)
        error = node_gatherv(comm, topology->local_of[call->root], call->send, call->own, call->receive, others.bytes,
                             others.at, false);
    return rooted_end(&others, comm, call, error);
}

static int scatter_direct(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    if (topology->node != topology->node_of[call->root])
        return fabric_receive(&comm->fabric, call->receive, call->own, call->root, FABRIC_DATA);
    struct rooted_others others;
    int error = rooted_start(&others, comm, call);
    if (error == MPI_SUCCESS)
        error = node_scatterv(comm, topology->local_of[call->root], call->send, others.bytes, others.at, call->receive,
                              call->own, false);
    return rooted_end(&others, comm, call, error);
}

static const char in_cells[] = "Each block piece by piece through cells of its sender, all at once.";
static const char pulled[] =
    "Long blocks are read out of their sender's memory, short ones go beside a flag or through cells.";
static const char direct[] =
    "On the root's node in shared memory; every rank of another node has a message with the root itself.";
static const char single_copy[] = "Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for "
                                  "multi-/many-core systems, CLUSTER 2017";

const struct algorithm gatherv_cells = {
    .name = "gatherv_cells",
    .collective = COLL_GATHERV,
    .meaning = in_cells,
    .reference = "",
    .applies = cells_apply,
    .cost = cells_cost,
    .run = gather_cells,
};

const struct algorithm gatherv_pull = {
    .name = "gatherv_pull",
    .collective = COLL_GATHERV,
    .meaning = pulled,
    .reference = single_copy,
    .applies = pull_applies,
    .cost = pull_cost,
    .run = gather_pull,
};

const struct algorithm gatherv_direct = {
    .name = "gatherv_direct",
    .collective = COLL_GATHERV,
    .meaning = direct,
    .reference = "",
    .applies = rooted_applies,
    .cost = direct_cost,
    .run = gather_direct,
};

const struct algorithm scatterv_cells = {
    .name = "scatterv_cells",
    .collective = COLL_SCATTERV,
    .meaning = in_cells,
    .reference = "",
    .applies = cells_apply,
    .cost = cells_cost,
    .run = scatter_cells,
};

const struct algorithm scatterv_pull = {
    .name = "scatterv_pull",
    .collective = COLL_SCATTERV,
    .meaning = pulled,
    .reference = single_copy,
    .applies = pull_applies,
    .cost = pull_cost,
    .run = scatter_pull,
};

const struct algorithm scatterv_direct = {
    .name = "scatterv_direct",
    .collective = COLL_SCATTERV,
    .meaning = direct,
    .reference = "",
    .applies = rooted_applies,
    .cost = direct_cost,
    .run = scatter_direct,
};
