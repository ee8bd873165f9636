#include <string.h>

#include "collectives.h"

#define ALGORITHM(name) extern const struct algorithm name;
#define MESSAGES(name) ALGORITHM(name)
#include "algorithms.def"
#undef ALGORITHM

#define ALGORITHM(name) &name,
static const struct algorithm *const table[] = {
#include "algorithms.def"
    NULL,
};
#undef ALGORITHM

const char *const collective_names[COLLECTIVES] = {"allgather",
                                                   "allgatherv",
                                                   "allreduce",
                                                   "alltoall",
                                                   "alltoallv",
                                                   "alltoallw",
                                                   "barrier",
                                                   "bcast",
                                                   "exscan",
                                                   "gather",
                                                   "gatherv",
                                                   "neighbor_allgather",
                                                   "neighbor_allgatherv",
                                                   "neighbor_alltoall",
                                                   "neighbor_alltoallv",
                                                   "neighbor_alltoallw",
                                                   "reduce",
                                                   "reduce_scatter",
                                                   "reduce_scatter_block",
                                                   "scan",
                                                   "scatter",
                                                   "scatterv",
                                                   "iallgather",
                                                   "iallgatherv",
                                                   "iallreduce",
                                                   "ialltoall",
                                                   "ialltoallv",
                                                   "ialltoallw",
                                                   "ibarrier",
                                                   "ibcast",
                                                   "iexscan",
                                                   "igather",
                                                   "igatherv",
                                                   "ineighbor_allgather",
                                                   "ineighbor_allgatherv",
                                                   "ineighbor_alltoall",
                                                   "ineighbor_alltoallv",
                                                   "ineighbor_alltoallw",
                                                   "ireduce",
                                                   "ireduce_scatter",
                                                   "ireduce_scatter_block",
                                                   "iscan",
                                                   "iscatter",
                                                   "iscatterv",
                                                   "allgather_init",
                                                   "allgatherv_init",
                                                   "allreduce_init",
                                                   "alltoall_init",
                                                   "alltoallv_init",
                                                   "alltoallw_init",
                                                   "barrier_init",
                                                   "bcast_init",
                                                   "exscan_init",
                                                   "gather_init",
                                                   "gatherv_init",
                                                   "neighbor_allgather_init",
                                                   "neighbor_allgatherv_init",
                                                   "neighbor_alltoall_init",
                                                   "neighbor_alltoallv_init",
                                                   "neighbor_alltoallw_init",
                                                   "reduce_init",
                                                   "reduce_scatter_init",
                                                   "reduce_scatter_block_init",
                                                   "scan_init",
                                                   "scatter_init",
                                                   "scatterv_init"};

const struct algorithm *algorithm_at(int index)
{
    return table[index];
}

const struct algorithm *algorithm_find(enum collective collective, const char *name)
{
    collective = collective_started(collective);
    size_t skip = strlen(collective_names[collective]) + 1;
    for (int i = 0; table[i] != NULL; i++)
        if (table[i]->collective == collective && strcmp(table[i]->name + skip, name) == 0)
            return table[i];
    return NULL;
}

enum collective collective_find(const char *name)
{
    int i = 0;
    while (i < COLLECTIVES && strcmp(collective_names[i], name) != 0)
        i++;
    return (enum collective)i;
}
