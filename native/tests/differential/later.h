/* The nonblocking and persistent forms of the call under test, and the many ways in which a program waits for it. */
#ifndef UNISONO_TEST_LATER_H
#define UNISONO_TEST_LATER_H

#include "calls.h"

#define LATER_Allgather MPI_Iallgather
#define LATER_Allgatherv MPI_Iallgatherv
#define LATER_Allreduce MPI_Iallreduce
#define LATER_Alltoall MPI_Ialltoall
#define LATER_Alltoallv MPI_Ialltoallv
#define LATER_Alltoallw MPI_Ialltoallw
#define LATER_Bcast MPI_Ibcast
#define LATER_Exscan MPI_Iexscan
#define LATER_Gather MPI_Igather
#define LATER_Gatherv MPI_Igatherv
#define LATER_Neighbor_allgather MPI_Ineighbor_allgather
#define LATER_Neighbor_allgatherv MPI_Ineighbor_allgatherv
#define LATER_Neighbor_alltoall MPI_Ineighbor_alltoall
#define LATER_Neighbor_alltoallv MPI_Ineighbor_alltoallv
#define LATER_Neighbor_alltoallw MPI_Ineighbor_alltoallw
#define LATER_Reduce MPI_Ireduce
#define LATER_Reduce_scatter MPI_Ireduce_scatter
#define LATER_Reduce_scatter_block MPI_Ireduce_scatter_block
#define LATER_Scan MPI_Iscan
#define LATER_Scatter MPI_Iscatter
#define LATER_Scatterv MPI_Iscatterv
#define LATER_C_Allgather MPI_Iallgather_c
#define LATER_C_Allgatherv MPI_Iallgatherv_c
#define LATER_C_Allreduce MPI_Iallreduce_c
#define LATER_C_Alltoall MPI_Ialltoall_c
#define LATER_C_Alltoallv MPI_Ialltoallv_c
#define LATER_C_Alltoallw MPI_Ialltoallw_c
#define LATER_C_Bcast MPI_Ibcast_c
#define LATER_C_Exscan MPI_Iexscan_c
#define LATER_C_Gather MPI_Igather_c
#define LATER_C_Gatherv MPI_Igatherv_c
#define LATER_C_Neighbor_allgather MPI_Ineighbor_allgather_c
#define LATER_C_Neighbor_allgatherv MPI_Ineighbor_allgatherv_c
#define LATER_C_Neighbor_alltoall MPI_Ineighbor_alltoall_c
#define LATER_C_Neighbor_alltoallv MPI_Ineighbor_alltoallv_c
#define LATER_C_Neighbor_alltoallw MPI_Ineighbor_alltoallw_c
#define LATER_C_Reduce MPI_Ireduce_c
#define LATER_C_Reduce_scatter MPI_Ireduce_scatter_c
#define LATER_C_Reduce_scatter_block MPI_Ireduce_scatter_block_c
#define LATER_C_Scan MPI_Iscan_c
#define LATER_C_Scatter MPI_Iscatter_c
#define LATER_C_Scatterv MPI_Iscatterv_c

/* Where a persistent one cannot be ours, those of MPICH 4.0.2 and 5.0 gather what was there when they were made. */
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

/* Whether this case is made by it: of the calls that ours serve, some, or most. */
void later_draw(struct trial *trial, bool often);
/* Has it served by ours, where something of ours serves it on its communicator. */
bool later_is_ours(const struct trial *trial, int (*use)(MPI_Comm, const char *, const char *));
/* Tests one of those that are under way, this one and those outside of it. */
void later_look(struct trial *trial);
/* After its call, which returned `error`: starts it if it is persistent, and waits for it, sometimes beside other requests
 * or for calls outside of it before. MPI error code. */
int later_end(struct trial *trial, int error);

#endif
