#include <string.h>

#include "../group/rooted.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double all = (double)shape->bytes * comm->ranks;
    return cost_fabric_shared(comm, cost_levels(comm->ranks, 2), all) + 2 * all * comm->costs.node_byte;
}

static int gather(struct coll_comm *comm, const struct call *call, char *work, const int64_t *starts, int place)
{
    struct group all = group_everybody(comm);
    if (call->bytes > 0)
        memcpy(work + starts[place], call->send, (size_t)call->bytes);
    int error = group_gather_tree(&all, call->root, work, starts);
    if (error == MPI_SUCCESS && place == 0)
        rooted_turn(comm, call->root, call->bytes, call->receive, work, true);
    return error;
}

static int scatter(struct coll_comm *comm, const struct call *call, char *work, const int64_t *starts, int place)
{
    struct group all = group_everybody(comm);
    if (place == 0)
        rooted_turn(comm, call->root, call->bytes, (char *)(uintptr_t)call->send, work, false);
    int error = group_scatter_tree(&all, call->root, work, starts);
    if (error == MPI_SUCCESS && call->bytes > 0)
        memcpy(call->receive, work + starts[place], (size_t)call->bytes);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    char *work = coll_scratch(comm, SCRATCH_WORK, comm->ranks * call->bytes + 1);
    int64_t *starts = malloc(((size_t)comm->ranks + 1) * sizeof *starts);
    int place = (comm->rank - call->root + comm->ranks) % comm->ranks, error = MPI_ERR_NO_MEM;
    for (int i = 0; starts != NULL && i <= comm->ranks; i++)
        starts[i] = i * call->bytes;
    if (work != NULL && starts != NULL)
        error = (call->collective == COLL_GATHER ? gather : scatter)(comm, call, work, starts, place);
    free(starts);
    return error;
}

const struct algorithm gather_flat_tree = {
    .name = "gather_flat_tree",
    .collective = COLL_GATHER,
    .meaning = "A binomial tree over all ranks, as if each had a node to itself.",
    .reference = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all,
    .run = run,
};

const struct algorithm scatter_flat_tree = {
    .name = "scatter_flat_tree",
    .collective = COLL_SCATTER,
    .meaning = "A binomial tree over all ranks, as if each had a node to itself.",
    .reference = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all,
    .run = run,
};
