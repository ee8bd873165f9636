/* every(COMM, WHERE): all collectives that the library serves, blocking, nonblocking and persistent, of short and long messages; counts in every_wrong
 * what is wrong. Needs no memory but its own, which is there from the start. At most MOST_RANKS ranks. */
#ifndef EVERY_H
#define EVERY_H
#include <mpi.h>
#include <stdio.h>

enum { BLOCKING, NONBLOCKING, PERSISTENT, WAYS, MOST_RANKS = 16, MOST = 20000 * (MOST_RANKS + 2) };
/* MPICH 4.0 itself ends at the second start of a persistent scatter ("Invalid communicator"). */
#if (MPI_VERSION >= 4 && !(defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000)) ||                                \
    (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define EVERY_PERSISTENT(name, ...)                                                                                    \
    do {                                                                                                               \
        MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                                       \
        for (int start = 0; start < 3; start++) {                                                                      \
            MPI_Start(&request);                                                                                       \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                     \
        }                                                                                                              \
        MPI_Request_free(&request);                                                                                    \
    } while (0)
#else
#define EVERY_PERSISTENT(name, ...) MPI_##name(__VA_ARGS__)
#endif
#define EVERY_RUN(name, later, ...)                                                                                    \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (way == BLOCKING)                                                                                           \
            MPI_##name(__VA_ARGS__);                                                                                   \
        else if (way == NONBLOCKING) {                                                                                 \
            MPI_##later(__VA_ARGS__, &request);                                                                        \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                     \
        } else                                                                                                         \
            EVERY_PERSISTENT(name, __VA_ARGS__);                                                                       \
    } while (0)
#define EVERY_EXPECT(good, name)                                                                                       \
    do {                                                                                                               \
        if (!(good) && every_wrong++ < 5)                                                                              \
            fprintf(stderr, "%s: %s, way %d, rank %d: element %d is wrong\n", where, name, way, rank, i);              \
    } while (0)

static int every_wrong;

static int *every_fill(int *to, int count, int value)
{
    for (int i = 0; i < count; i++)
        to[i] = value;
    return to;
}

static void every_way(MPI_Comm comm, MPI_Comm ring, int n, int way, const char *where)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int all = n * ranks, sum = ranks * (ranks - 1) / 2, root = n % ranks, left = (rank + ranks - 1) % ranks;
    static int in[MOST], out[MOST], counts[MOST_RANKS + 2], places[MOST_RANKS + 2], bytes[MOST_RANKS + 2];
    static MPI_Datatype types[MOST_RANKS + 2];
    MPI_Aint far[2] = {0, (MPI_Aint)(sizeof(int) * (size_t)n)};
    for (int i = 0; i < ranks + 2; i++)
        counts[i] = n, places[i] = i * n, bytes[i] = i * n * (int)sizeof(int), types[i] = MPI_INT;
    EVERY_RUN(Barrier, Ibarrier, comm);
    every_fill(in, n, rank == root ? 7 : -1);
    EVERY_RUN(Bcast, Ibcast, in, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(in[i] == 7, "bcast");
    for (int i = 0; i < n; i++)
        in[i] = rank + i;
    every_fill(out, n, -1);
    EVERY_RUN(Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == sum + ranks * i, "allreduce");
    every_fill(out, n, -1);
    EVERY_RUN(Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; rank == root && i < n; i++)
        EVERY_EXPECT(out[i] == sum + ranks * i, "reduce");
    every_fill(out, n, -1);
    EVERY_RUN(Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == rank * (rank + 1) / 2 + (rank + 1) * i, "scan");
    EVERY_RUN(Exscan, Iexscan, in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; rank > 0 && i < n; i++)
        EVERY_EXPECT(out[i] == rank * (rank - 1) / 2 + rank * i, "exscan");
    every_fill(out, all, -1);
    EVERY_RUN(Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int i = 0; i < all; i++)
        EVERY_EXPECT(out[i] == i / n + i % n, "allgather");
    every_fill(out, all, -1);
    EVERY_RUN(Allgatherv, Iallgatherv, in, n, MPI_INT, out, counts, places, MPI_INT, comm);
    for (int i = 0; i < all; i++)
        EVERY_EXPECT(out[i] == i / n + i % n, "allgatherv");
    every_fill(out, all, -1);
    EVERY_RUN(Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, root, comm);
    for (int i = 0; rank == root && i < all; i++)
        EVERY_EXPECT(out[i] == i / n + i % n, "gather");
    every_fill(out, all, -1);
    EVERY_RUN(Gatherv, Igatherv, in, n, MPI_INT, out, counts, places, MPI_INT, root, comm);
    for (int i = 0; rank == root && i < all; i++)
        EVERY_EXPECT(out[i] == i / n + i % n, "gatherv");
    for (int i = 0; i < all; i++)
        in[i] = 1000 * rank + i;
    every_fill(out, all, -1);
    EVERY_RUN(Alltoall, Ialltoall, in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int i = 0; i < all; i++)
        EVERY_EXPECT(out[i] == 1000 * (i / n) + rank * n + i % n, "alltoall");
    every_fill(out, all, -1);
    EVERY_RUN(Alltoallv, Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
    for (int i = 0; i < all; i++)
        EVERY_EXPECT(out[i] == 1000 * (i / n) + rank * n + i % n, "alltoallv");
    every_fill(out, all, -1);
    EVERY_RUN(Alltoallw, Ialltoallw, in, counts, bytes, types, out, counts, bytes, types, comm);
    for (int i = 0; i < all; i++)
        EVERY_EXPECT(out[i] == 1000 * (i / n) + rank * n + i % n, "alltoallw");
    every_fill(out, all, -1);
    EVERY_RUN(Scatter, Iscatter, in, n, MPI_INT, out, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == 1000 * root + rank * n + i, "scatter");
    every_fill(out, all, -1);
    EVERY_RUN(Scatterv, Iscatterv, in, counts, places, MPI_INT, out, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == 1000 * root + rank * n + i, "scatterv");
    every_fill(out, all, -1);
    EVERY_RUN(Reduce_scatter_block, Ireduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == 1000 * sum + ranks * (rank * n + i), "reduce_scatter_block");
    every_fill(out, all, -1);
    EVERY_RUN(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        EVERY_EXPECT(out[i] == 1000 * sum + ranks * (rank * n + i), "reduce_scatter");
    if (ring != MPI_COMM_NULL && ranks > 1) {
        for (int i = 0; i < 2 * n; i++)
            in[i] = 1000 * rank + i;
        every_fill(out, 2 * n, -1);
        EVERY_RUN(Neighbor_allgather, Ineighbor_allgather, in, n, MPI_INT, out, n, MPI_INT, ring);
        for (int i = 0; i < n; i++)
            EVERY_EXPECT(out[i] == 1000 * left + i, "neighbor_allgather");
        every_fill(out, 2 * n, -1);
        EVERY_RUN(Neighbor_allgatherv, Ineighbor_allgatherv, in, n, MPI_INT, out, counts, places, MPI_INT, ring);
        for (int i = 0; i < n; i++)
            EVERY_EXPECT(out[i] == 1000 * left + i, "neighbor_allgatherv");
        every_fill(out, 2 * n, -1);
        EVERY_RUN(Neighbor_alltoall, Ineighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT, ring);
        for (int i = 0; i < n; i++)
            EVERY_EXPECT(out[i] == 1000 * left + i, "neighbor_alltoall");
        every_fill(out, 2 * n, -1);
        EVERY_RUN(Neighbor_alltoallv, Ineighbor_alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT,
                  ring);
        for (int i = 0; i < n; i++)
            EVERY_EXPECT(out[i] == 1000 * left + i, "neighbor_alltoallv");
        every_fill(out, 2 * n, -1);
        EVERY_RUN(Neighbor_alltoallw, Ineighbor_alltoallw, in, counts, far, types, out, counts, far, types, ring);
        for (int i = 0; i < n; i++)
            EVERY_EXPECT(out[i] == 1000 * left + i, "neighbor_alltoallw");
    }
}

static MPI_Comm every_ring(MPI_Comm comm)
{
    int rank, ranks, one = 1;
    MPI_Comm ring;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Dist_graph_create_adjacent(comm, 1, &left, &one, 1, &right, &one, MPI_INFO_NULL, 0, &ring);
    return ring;
}

static void every(MPI_Comm comm, const char *where)
{
    static const int lengths[] = {1, 300, 20000};
    MPI_Comm ring = every_ring(comm);
    for (int times = 0; times < 4; times++)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < 3; i++)
                every_way(comm, ring, lengths[i], way, where);
    MPI_Comm_free(&ring);
}
#endif
