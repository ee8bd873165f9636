/* The collectives, one file each. */
#ifndef UNISONO_COLLECTIVES_H
#define UNISONO_COLLECTIVES_H

#include "../operation.h"

extern const struct collective coll_allreduce, coll_reduce, coll_bcast, coll_allgather, coll_allgatherv, coll_alltoall,
    coll_alltoallv, coll_alltoallw, coll_gather, coll_gatherv, coll_scatter, coll_scatterv, coll_reduce_scatter,
    coll_reduce_scatter_block, coll_neighbor_allgather, coll_neighbor_allgatherv, coll_neighbor_alltoall,
    coll_neighbor_alltoallv, coll_neighbor_alltoallw, coll_scan, coll_exscan, coll_barrier, coll_pingpong,
    coll_allreduce5, coll_halo26, coll_exchange, coll_iallgather, coll_iallgatherv, coll_iallreduce, coll_ialltoall,
    coll_ialltoallv, coll_ialltoallw, coll_ibarrier, coll_ibcast, coll_iexscan, coll_igather, coll_igatherv,
    coll_ineighbor_allgather, coll_ineighbor_allgatherv, coll_ineighbor_alltoall, coll_ineighbor_alltoallv,
    coll_ineighbor_alltoallw, coll_ireduce, coll_ireduce_scatter, coll_ireduce_scatter_block, coll_iscan, coll_iscatter,
    coll_iscatterv, coll_allgather_init, coll_allgatherv_init, coll_allreduce_init, coll_alltoall_init,
    coll_alltoallv_init, coll_alltoallw_init, coll_barrier_init, coll_bcast_init, coll_exscan_init, coll_gather_init,
    coll_gatherv_init, coll_neighbor_allgather_init, coll_neighbor_allgatherv_init, coll_neighbor_alltoall_init,
    coll_neighbor_alltoallv_init, coll_neighbor_alltoallw_init, coll_reduce_init, coll_reduce_scatter_init,
    coll_reduce_scatter_block_init, coll_scan_init, coll_scatter_init, coll_scatterv_init;

#endif
