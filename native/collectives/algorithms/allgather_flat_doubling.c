#include <string.h>

#include "../group/nodes.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1 && group_doubles(comm->ranks);
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
    char *own = (char *)call->receive + comm->rank * call->bytes;
    int64_t *starts = malloc(((size_t)comm->ranks + 1) * sizeof *starts);
    if (starts == NULL)
        return MPI_ERR_NO_MEM;
    for (int rank = 0; rank <= comm->ranks; rank++)
        starts[rank] = rank * call->bytes;
    if (own != call->send && call->bytes > 0)
        memcpy(own, call->send, (size_t)call->bytes);
    int error = group_allgather_doubling(&all, 0, call->receive, starts);
    free(starts);
    return error;
}

const struct algorithm allgather_flat_doubling = {
    .name = "allgather_flat_doubling",
    .collective = COLL_ALLGATHER,
    .meaning =
        "Recursive doubling among all ranks, near ones first, without copies. Where their number is a power of two.",
    .reference = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH (2005)",
    .applies = applies,
    .cost = cost,
    .run = run,
};
