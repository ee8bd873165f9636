/* From the arguments of a call to its amount: one function for each collective, named after it, that takes the MPI
 * function's own arguments up to the communicator. The generated wrappers call them; the arithmetic is in amount.h.
 *
 * MPI lets a caller pass anything for an argument that is not significant, so a count or datatype is only looked at
 * where it is. `fortran`: arrays of handles are Fortran's. */
#ifndef UNISONO_CALL_ARGUMENTS_H
#define UNISONO_CALL_ARGUMENTS_H

#include <mpi.h>

#include "amount.h"
#include "comm.h"

/* Bytes of `count` elements; a datatype that nothing is sent with may be the null handle. */
static inline int64_t args_bytes(int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0;
    PMPI_Type_size_x(type, &size);
    return size > 0 ? count * (int64_t)size : 0;
}

/* An array of counts: int, or MPI_Count in the large-count functions. */
struct counts {
    const void *at;
    bool wide;
};

static inline struct counts args_narrow(const int *at)
{
    return (struct counts){at, false};
}

static inline struct counts args_wide(const MPI_Count *at)
{
    return (struct counts){at, true};
}

#define COUNTS(array)                                                                                                  \
    _Generic((array),                                                                                                  \
        const int *: args_narrow,                                                                                      \
        int *: args_narrow,                                                                                            \
        const MPI_Count *: args_wide,                                                                                  \
        MPI_Count *: args_wide)(array)

static inline int64_t args_count(struct counts counts, int i)
{
    return counts.wide ? (int64_t)((const MPI_Count *)counts.at)[i] : ((const int *)counts.at)[i];
}

/* The sum of `n` of them, without those `absent`. */
static inline int64_t args_sum(struct counts counts, int n, uint64_t absent)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        if (i >= 64 || (absent >> i & 1) == 0)
            sum += args_count(counts, i);
    return sum;
}

static inline MPI_Datatype args_type(const MPI_Datatype *types, int i, bool fortran)
{
    return fortran ? PMPI_Type_f2c(((const MPI_Fint *)(const void *)types)[i]) : types[i];
}

static inline int64_t args_sum_types(struct counts counts, const MPI_Datatype *types, int n, uint64_t absent,
                                     bool fortran)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        if ((i >= 64 || (absent >> i & 1) == 0) && args_count(counts, i) > 0)
            sum += args_bytes(args_count(counts, i), args_type(types, i, fortran));
    return sum;
}

static inline enum role args_role(const struct group *g, int root)
{
    if (g->inter)
        return root == MPI_ROOT ? ROLE_ROOT : root == MPI_PROC_NULL ? ROLE_NONE : ROLE_OTHER;
    return root == g->rank ? ROLE_ROOT : ROLE_OTHER;
}

static inline int args_present(int neighbours, uint64_t absent)
{
    return neighbours - __builtin_popcountll(absent);
}

#define RULE static inline struct amount

RULE args_barrier(const struct group *g, bool fortran)
{
    (void)g, (void)fortran;
    return amount_barrier();
}

RULE args_bcast(const struct group *g, bool fortran, const void *buf, int64_t count, MPI_Datatype type, int root)
{
    (void)buf, (void)fortran;
    enum role role = args_role(g, root);
    return amount_bcast(role, g->peers, g->inter, role == ROLE_NONE ? 0 : args_bytes(count, type));
}

RULE args_gather(const struct group *g, bool fortran, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root)
{
    (void)recvbuf, (void)fortran;
    enum role role = args_role(g, root);
    bool in_place = role == ROLE_ROOT && sendbuf == MPI_IN_PLACE;
    bool sends = role == ROLE_OTHER || (role == ROLE_ROOT && !in_place && !g->inter);
    return amount_gather(role, g->peers, sends ? args_bytes(sendcount, sendtype) : 0,
                         role == ROLE_ROOT ? args_bytes(recvcount, recvtype) : 0, in_place, g->inter);
}

/* The root's arguments of Gatherv and Scatterv describe all blocks, the others' theirs. */
RULE args_rooted_v(const struct group *g, int root, bool in_place, int64_t count, MPI_Datatype type,
                   struct counts all_counts, MPI_Datatype all_type)
{
    enum role role = args_role(g, root);
    bool own_block = role == ROLE_OTHER || (role == ROLE_ROOT && !in_place && !g->inter);
    int64_t block = own_block ? args_bytes(count, type) : 0, total = 0, own = 0;
    if (role == ROLE_ROOT) {
        total = args_bytes(args_sum(all_counts, g->peers, 0), all_type);
        own = g->inter ? 0 : args_bytes(args_count(all_counts, g->rank), all_type);
    }
    return amount_gatherv(role, g->peers, block, total, own, in_place, g->inter);
}

#define args_gatherv(g, fortran, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root)            \
    args_rooted_v(g, root, (sendbuf) == MPI_IN_PLACE, sendcount, sendtype, COUNTS(recvcounts), recvtype)

RULE args_scatter(const struct group *g, bool fortran, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root)
{
    return amount_reversed(args_gather(g, fortran, recvbuf, recvcount, recvtype, sendbuf, sendcount, sendtype, root));
}

#define args_scatterv(g, fortran, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root)           \
    amount_reversed(                                                                                                   \
        args_rooted_v(g, root, (recvbuf) == MPI_IN_PLACE, recvcount, recvtype, COUNTS(sendcounts), sendtype))

RULE args_allgather(const struct group *g, bool fortran, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                    const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype)
{
    (void)recvbuf, (void)fortran;
    bool in_place = sendbuf == MPI_IN_PLACE;
    return amount_allgather(g->peers, in_place ? 0 : args_bytes(sendcount, sendtype), args_bytes(recvcount, recvtype),
                            in_place);
}

#define args_alltoall args_allgather

RULE args_allgatherv_counts(const struct group *g, bool in_place, int64_t sendcount, MPI_Datatype sendtype,
                            struct counts recvcounts, MPI_Datatype recvtype)
{
    return amount_allgatherv(g->peers, in_place ? 0 : args_bytes(sendcount, sendtype),
                             args_bytes(args_sum(recvcounts, g->peers, 0), recvtype),
                             in_place ? args_bytes(args_count(recvcounts, g->rank), recvtype) : 0, in_place);
}

#define args_allgatherv(g, fortran, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype)               \
    args_allgatherv_counts(g, (sendbuf) == MPI_IN_PLACE, sendcount, sendtype, COUNTS(recvcounts), recvtype)

RULE args_alltoallv_counts(const struct group *g, bool in_place, struct counts sendcounts, MPI_Datatype sendtype,
                           struct counts recvcounts, MPI_Datatype recvtype)
{
    return amount_alltoallv(g->peers, in_place ? 0 : args_bytes(args_sum(sendcounts, g->peers, 0), sendtype),
                            args_bytes(args_sum(recvcounts, g->peers, 0), recvtype),
                            in_place ? args_bytes(args_count(recvcounts, g->rank), recvtype) : 0, in_place);
}

#define args_alltoallv(g, fortran, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)     \
    args_alltoallv_counts(g, (sendbuf) == MPI_IN_PLACE, COUNTS(sendcounts), sendtype, COUNTS(recvcounts), recvtype)

RULE args_alltoallw_counts(const struct group *g, bool fortran, bool in_place, struct counts sendcounts,
                           const MPI_Datatype *sendtypes, struct counts recvcounts, const MPI_Datatype *recvtypes)
{
    int64_t own = in_place && args_count(recvcounts, g->rank) > 0
                      ? args_bytes(args_count(recvcounts, g->rank), args_type(recvtypes, g->rank, fortran))
                      : 0;
    return amount_alltoallv(g->peers, in_place ? 0 : args_sum_types(sendcounts, sendtypes, g->peers, 0, fortran),
                            args_sum_types(recvcounts, recvtypes, g->peers, 0, fortran), own, in_place);
}

#define args_alltoallw(g, fortran, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)   \
    args_alltoallw_counts(g, fortran, (sendbuf) == MPI_IN_PLACE, COUNTS(sendcounts), sendtypes, COUNTS(recvcounts),    \
                          recvtypes)

RULE args_reduce(const struct group *g, bool fortran, const void *sendbuf, const void *recvbuf, int64_t count,
                 MPI_Datatype type, MPI_Op op, int root)
{
    (void)recvbuf, (void)op, (void)fortran;
    enum role role = args_role(g, root);
    return amount_reduce(role, g->peers, role == ROLE_NONE ? 0 : args_bytes(count, type),
                         role == ROLE_ROOT && sendbuf == MPI_IN_PLACE, g->inter);
}

RULE args_allreduce(const struct group *g, bool fortran, const void *sendbuf, const void *recvbuf, int64_t count,
                    MPI_Datatype type, MPI_Op op)
{
    (void)recvbuf, (void)op, (void)fortran;
    return amount_allreduce(g->peers, args_bytes(count, type), sendbuf == MPI_IN_PLACE);
}

RULE args_reduce_scatter_block(const struct group *g, bool fortran, const void *sendbuf, const void *recvbuf,
                               int64_t count, MPI_Datatype type, MPI_Op op)
{
    (void)recvbuf, (void)op, (void)fortran;
    return amount_reduce_scatter_block(g->peers, args_bytes(count, type), sendbuf == MPI_IN_PLACE);
}

/* On an intercommunicator the counts are those of the local group. */
RULE args_reduce_scatter_counts(const struct group *g, bool in_place, struct counts recvcounts, MPI_Datatype type)
{
    return amount_reduce_scatter(g->peers, args_bytes(args_sum(recvcounts, g->size, 0), type),
                                 args_bytes(args_count(recvcounts, g->rank), type), in_place);
}

#define args_reduce_scatter(g, fortran, sendbuf, recvbuf, recvcounts, type, op)                                        \
    args_reduce_scatter_counts(g, (sendbuf) == MPI_IN_PLACE, COUNTS(recvcounts), type)

RULE args_scan(const struct group *g, bool fortran, const void *sendbuf, const void *recvbuf, int64_t count,
               MPI_Datatype type, MPI_Op op)
{
    (void)recvbuf, (void)op, (void)fortran;
    return amount_scan(g->rank, g->size, args_bytes(count, type), sendbuf == MPI_IN_PLACE);
}

RULE args_exscan(const struct group *g, bool fortran, const void *sendbuf, const void *recvbuf, int64_t count,
                 MPI_Datatype type, MPI_Op op)
{
    (void)sendbuf, (void)recvbuf, (void)op, (void)fortran;
    return amount_exscan(g->rank, g->size, args_bytes(count, type));
}

RULE args_neighbor_allgather(const struct group *g, bool fortran, const void *sendbuf, int64_t sendcount,
                             MPI_Datatype sendtype, const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype)
{
    (void)sendbuf, (void)recvbuf, (void)fortran;
    return amount_neighbor(args_present(g->out, g->absent), args_present(g->in, g->absent),
                           args_bytes(sendcount, sendtype), args_bytes(recvcount, recvtype));
}

#define args_neighbor_alltoall args_neighbor_allgather

RULE args_neighbor_allgatherv_counts(const struct group *g, int64_t sendcount, MPI_Datatype sendtype,
                                     struct counts recvcounts, MPI_Datatype recvtype)
{
    int out = args_present(g->out, g->absent);
    return amount_neighborv(out, out * args_bytes(sendcount, sendtype),
                            args_bytes(args_sum(recvcounts, g->in, g->absent), recvtype));
}

#define args_neighbor_allgatherv(g, fortran, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype)      \
    args_neighbor_allgatherv_counts(g, sendcount, sendtype, COUNTS(recvcounts), recvtype)

RULE args_neighbor_alltoallv_counts(const struct group *g, struct counts sendcounts, MPI_Datatype sendtype,
                                    struct counts recvcounts, MPI_Datatype recvtype)
{
    return amount_neighborv(args_present(g->out, g->absent),
                            args_bytes(args_sum(sendcounts, g->out, g->absent), sendtype),
                            args_bytes(args_sum(recvcounts, g->in, g->absent), recvtype));
}

#define args_neighbor_alltoallv(g, fortran, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,      \
                                recvtype)                                                                              \
    args_neighbor_alltoallv_counts(g, COUNTS(sendcounts), sendtype, COUNTS(recvcounts), recvtype)

RULE args_neighbor_alltoallw_counts(const struct group *g, bool fortran, struct counts sendcounts,
                                    const MPI_Datatype *sendtypes, struct counts recvcounts,
                                    const MPI_Datatype *recvtypes)
{
    return amount_neighborv(args_present(g->out, g->absent),
                            args_sum_types(sendcounts, sendtypes, g->out, g->absent, fortran),
                            args_sum_types(recvcounts, recvtypes, g->in, g->absent, fortran));
}

#define args_neighbor_alltoallw(g, fortran, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,     \
                                recvtypes)                                                                             \
    args_neighbor_alltoallw_counts(g, fortran, COUNTS(sendcounts), sendtypes, COUNTS(recvcounts), recvtypes)

#undef RULE

#endif
