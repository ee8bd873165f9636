#include "operation.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/all.h"

static const struct collective *const table[] = {
    &coll_allreduce,
    &coll_reduce,
    &coll_bcast,
    &coll_allgather,
    &coll_allgatherv,
    &coll_alltoall,
    &coll_alltoallv,
    &coll_alltoallw,
    &coll_gather,
    &coll_gatherv,
    &coll_scatter,
    &coll_scatterv,
    &coll_reduce_scatter,
    &coll_reduce_scatter_block,
    &coll_scan,
    &coll_exscan,
    &coll_barrier,
    &coll_pingpong,
    &coll_allreduce5,
    &coll_halo26,
    &coll_exchange,
    &coll_neighbor_allgather,
    &coll_neighbor_allgatherv,
    &coll_neighbor_alltoall,
    &coll_neighbor_alltoallv,
    &coll_neighbor_alltoallw,
    &coll_iallgather,
    &coll_iallgatherv,
    &coll_iallreduce,
    &coll_ialltoall,
    &coll_ialltoallv,
    &coll_ialltoallw,
    &coll_ibarrier,
    &coll_ibcast,
    &coll_iexscan,
    &coll_igather,
    &coll_igatherv,
    &coll_ineighbor_allgather,
    &coll_ineighbor_allgatherv,
    &coll_ineighbor_alltoall,
    &coll_ineighbor_alltoallv,
    &coll_ineighbor_alltoallw,
    &coll_ireduce,
    &coll_ireduce_scatter,
    &coll_ireduce_scatter_block,
    &coll_iscan,
    &coll_iscatter,
    &coll_iscatterv,
    &coll_allgather_init,
    &coll_allgatherv_init,
    &coll_allreduce_init,
    &coll_alltoall_init,
    &coll_alltoallv_init,
    &coll_alltoallw_init,
    &coll_barrier_init,
    &coll_bcast_init,
    &coll_exscan_init,
    &coll_gather_init,
    &coll_gatherv_init,
    &coll_neighbor_allgather_init,
    &coll_neighbor_allgatherv_init,
    &coll_neighbor_alltoall_init,
    &coll_neighbor_alltoallv_init,
    &coll_neighbor_alltoallw_init,
    &coll_reduce_init,
    &coll_reduce_scatter_init,
    &coll_reduce_scatter_block_init,
    &coll_scan_init,
    &coll_scatter_init,
    &coll_scatterv_init,
};

const struct collective *collective_at(int index)
{
    return index < (int)(sizeof table / sizeof *table) ? table[index] : NULL;
}

const struct collective *collective_find(const char *name)
{
    for (int i = 0; collective_at(i) != NULL; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

bool operation_prepare(struct operation *operation, const char *name, int rank, int ranks, int64_t bytes,
                       const struct partners *partners, struct problem *problem)
{
    *operation = (struct operation){.collective = collective_find(name),
                                    .rank = rank,
                                    .ranks = ranks,
                                    .bytes = (size_t)bytes,
                                    .made = MPI_DATATYPE_NULL,
                                    .partners = partners};
    if (operation->collective == NULL)
        return problem_set(problem, "'%.40s' is not a collective that can be measured", name);
    if (bytes > INT_MAX)
        return problem_set(problem, "size: MPI counts end at %d", INT_MAX);
    if (operation->collective->missing != NULL)
        return problem_set(problem, "%s", operation->collective->missing);
    return collective_data(operation->collective)->prepare(operation, problem);
}

void operation_free(struct operation *operation)
{
    free(operation->counts);
    free(operation->offsets);
    free(operation->far);
    free(operation->types);
    if (operation->made != MPI_DATATYPE_NULL)
        MPI_Type_free(&operation->made);
    operation->counts = operation->offsets = NULL;
    operation->far = NULL;
    operation->types = NULL;
    operation->made = MPI_DATATYPE_NULL;
}
