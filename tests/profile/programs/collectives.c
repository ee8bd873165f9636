/* Every collective once or more, with what it moves by the convention of native/intercept/amount.h, worked out by hand. */
#include "truth.h"

enum { ROOT = 1, MOST = 4096 };
static int a[MOST], b[MOST];
static int counts[64], other_counts[64], displs[64];
static MPI_Datatype types[64];
static const MPI_Comm world = MPI_COMM_WORLD;

static void done(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    truth("MPI_Wait", -1, 1, -1, 0, 0);
}

static void blocking(MPI_Datatype wide) /* of 24 bytes, 80 with its holes */
{
    const int P = ranks, root = rank == ROOT;
    long sum = 4 * (P * (P + 1) / 2), own = 4 * (rank + 1); /* counts[i] = i + 1 ints */

    MPI_Barrier(world);
    truth("MPI_Barrier", P, 1, 0, 0, 0);
    MPI_Bcast(a, 10, MPI_INT, ROOT, world);
    truth("MPI_Bcast", P, 1, 40, root ? P * 40 : 0, 40);
    MPI_Bcast(a, 3, wide, ROOT, world);
    truth("MPI_Bcast", P, 1, 72, root ? P * 72 : 0, 72);
    MPI_Bcast(a, 0, MPI_INT, ROOT, world);
    truth("MPI_Bcast", P, 1, 0, 0, 0);

    MPI_Gather(a, 5, MPI_INT, b, 5, MPI_INT, ROOT, world);
    truth("MPI_Gather", P, 1, 20, 20, root ? P * 20 : 0);
    /* What is not significant may be nonsense. */
    MPI_Gather(root ? MPI_IN_PLACE : a, root ? -7 : 6, root ? MPI_DATATYPE_NULL : MPI_INT, b, root ? 6 : -7,
               root ? MPI_INT : MPI_DATATYPE_NULL, ROOT, world);
    truth("MPI_Gather", P, 1, 24, root ? 0 : 24, root ? (P - 1) * 24 : 0);
    MPI_Gatherv(a, rank + 1, MPI_INT, b, root ? counts : NULL, root ? displs : NULL, MPI_INT, ROOT, world);
    truth("MPI_Gatherv", P, 1, root ? sum / P : own, own, root ? sum : 0);
    MPI_Gatherv(root ? MPI_IN_PLACE : a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, ROOT, world);
    truth("MPI_Gatherv", P, 1, root ? sum / P : own, root ? 0 : own, root ? sum - own : 0);
    MPI_Scatter(a, 7, MPI_INT, b, 7, MPI_INT, ROOT, world);
    truth("MPI_Scatter", P, 1, 28, root ? P * 28 : 0, 28);
    MPI_Scatter(a, 8, MPI_INT, root ? MPI_IN_PLACE : b, 8, MPI_INT, ROOT, world);
    truth("MPI_Scatter", P, 1, 32, root ? (P - 1) * 32 : 0, root ? 0 : 32);
    MPI_Scatterv(a, counts, displs, MPI_INT, b, rank + 1, MPI_INT, ROOT, world);
    truth("MPI_Scatterv", P, 1, root ? sum / P : own, root ? sum : 0, own);
    MPI_Scatterv(a, counts, displs, MPI_INT, root ? MPI_IN_PLACE : b, rank + 1, MPI_INT, ROOT, world);
    truth("MPI_Scatterv", P, 1, root ? sum / P : own, root ? sum - own : 0, root ? 0 : own);

    MPI_Allgather(a, 9, MPI_INT, b, 9, MPI_INT, world);
    truth("MPI_Allgather", P, 1, 36, P * 36, P * 36);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 10, MPI_INT, world);
    truth("MPI_Allgather", P, 1, 40, (P - 1) * 40, (P - 1) * 40);
    MPI_Allgather(a, 1, wide, b, 6, MPI_INT, world);
    truth("MPI_Allgather", P, 1, 24, P * 24, P * 24);
    MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, world);
    truth("MPI_Allgatherv", P, 1, sum / P, P * own, sum);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, world);
    truth("MPI_Allgatherv", P, 1, sum / P, (P - 1) * own, sum - own);
    MPI_Alltoall(a, 11, MPI_INT, b, 11, MPI_INT, world);
    truth("MPI_Alltoall", P, 1, 44, P * 44, P * 44);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 12, MPI_INT, world);
    truth("MPI_Alltoall", P, 1, 48, (P - 1) * 48, (P - 1) * 48);
    /* Rank r sends r + 1 ints to each, so it receives i + 1 from rank i. */
    MPI_Alltoallv(a, other_counts, displs, MPI_INT, b, counts, displs, MPI_INT, world);
    truth("MPI_Alltoallv", P, 1, own, P * own, sum);
    for (int i = 0; i < P; i++)
        other_counts[i] = 2;
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, other_counts, displs, MPI_INT, world);
    truth("MPI_Alltoallv", P, 1, 8, (P - 1) * 8, (P - 1) * 8);
    MPI_Alltoallw(a, other_counts, displs, types, b, other_counts, displs, types, world);
    truth("MPI_Alltoallw", P, 1, 8, P * 8, P * 8);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, b, other_counts, displs, types, world);
    truth("MPI_Alltoallw", P, 1, 8, (P - 1) * 8, (P - 1) * 8);

    MPI_Reduce(a, b, 13, MPI_INT, MPI_SUM, ROOT, world);
    truth("MPI_Reduce", P, 1, 52, 52, root ? P * 52 : 0);
    MPI_Reduce(root ? MPI_IN_PLACE : a, b, 14, MPI_INT, MPI_SUM, ROOT, world);
    truth("MPI_Reduce", P, 1, 56, root ? 0 : 56, root ? (P - 1) * 56 : 0);
    MPI_Allreduce(a, b, 15, MPI_INT, MPI_SUM, world);
    truth("MPI_Allreduce", P, 1, 60, P * 60, P * 60);
    MPI_Allreduce(MPI_IN_PLACE, b, 16, MPI_INT, MPI_SUM, world);
    truth("MPI_Allreduce", P, 1, 64, (P - 1) * 64, (P - 1) * 64);
    MPI_Reduce_scatter_block(a, b, 17, MPI_INT, MPI_SUM, world);
    truth("MPI_Reduce_scatter_block", P, 1, 68, P * 68, P * 68);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, b, 18, MPI_INT, MPI_SUM, world);
    truth("MPI_Reduce_scatter_block", P, 1, 72, (P - 1) * 72, (P - 1) * 72);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world);
    truth("MPI_Reduce_scatter", P, 1, sum, sum, P * own);
    MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_INT, MPI_SUM, world);
    truth("MPI_Reduce_scatter", P, 1, sum, sum - own, (P - 1) * own);
    MPI_Scan(a, b, 19, MPI_INT, MPI_SUM, world);
    truth("MPI_Scan", P, 1, 76, (P - rank) * 76, (rank + 1) * 76);
    MPI_Scan(MPI_IN_PLACE, b, 20, MPI_INT, MPI_SUM, world);
    truth("MPI_Scan", P, 1, 80, (P - rank - 1) * 80, rank * 80);
    MPI_Exscan(a, b, 21, MPI_INT, MPI_SUM, world);
    truth("MPI_Exscan", P, 1, 84, (P - rank - 1) * 84, rank * 84);
}

static void nonblocking(void)
{
    const int P = ranks, root = rank == ROOT;
    long sum = 4 * (P * (P + 1) / 2), own = 4 * (rank + 1);
    MPI_Request r;

    MPI_Ibarrier(world, &r), done(&r);
    truth("MPI_Ibarrier", P, 1, 0, 0, 0);
    MPI_Ibcast(a, 10, MPI_INT, ROOT, world, &r), done(&r);
    truth("MPI_Ibcast", P, 1, 40, root ? P * 40 : 0, 40);
    MPI_Igather(a, 5, MPI_INT, b, 5, MPI_INT, ROOT, world, &r), done(&r);
    truth("MPI_Igather", P, 1, 20, 20, root ? P * 20 : 0);
    MPI_Igatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, ROOT, world, &r), done(&r);
    truth("MPI_Igatherv", P, 1, root ? sum / P : own, own, root ? sum : 0);
    MPI_Iscatter(a, 7, MPI_INT, b, 7, MPI_INT, ROOT, world, &r), done(&r);
    truth("MPI_Iscatter", P, 1, 28, root ? P * 28 : 0, 28);
    MPI_Iscatterv(a, counts, displs, MPI_INT, b, rank + 1, MPI_INT, ROOT, world, &r), done(&r);
    truth("MPI_Iscatterv", P, 1, root ? sum / P : own, root ? sum : 0, own);
    MPI_Iallgather(a, 9, MPI_INT, b, 9, MPI_INT, world, &r), done(&r);
    truth("MPI_Iallgather", P, 1, 36, P * 36, P * 36);
    MPI_Iallgatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, world, &r), done(&r);
    truth("MPI_Iallgatherv", P, 1, sum / P, P * own, sum);
    MPI_Ialltoall(a, 11, MPI_INT, b, 11, MPI_INT, world, &r), done(&r);
    truth("MPI_Ialltoall", P, 1, 44, P * 44, P * 44);
    MPI_Ialltoallv(a, other_counts, displs, MPI_INT, b, other_counts, displs, MPI_INT, world, &r), done(&r);
    truth("MPI_Ialltoallv", P, 1, 8, P * 8, P * 8);
    MPI_Ialltoallw(a, other_counts, displs, types, b, other_counts, displs, types, world, &r), done(&r);
    truth("MPI_Ialltoallw", P, 1, 8, P * 8, P * 8);
    MPI_Ireduce(a, b, 13, MPI_INT, MPI_SUM, ROOT, world, &r), done(&r);
    truth("MPI_Ireduce", P, 1, 52, 52, root ? P * 52 : 0);
    MPI_Iallreduce(MPI_IN_PLACE, b, 16, MPI_INT, MPI_SUM, world, &r), done(&r);
    truth("MPI_Iallreduce", P, 1, 64, (P - 1) * 64, (P - 1) * 64);
    MPI_Ireduce_scatter_block(a, b, 17, MPI_INT, MPI_SUM, world, &r), done(&r);
    truth("MPI_Ireduce_scatter_block", P, 1, 68, P * 68, P * 68);
    MPI_Ireduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world, &r), done(&r);
    truth("MPI_Ireduce_scatter", P, 1, sum, sum, P * own);
    MPI_Iscan(a, b, 19, MPI_INT, MPI_SUM, world, &r), done(&r);
    truth("MPI_Iscan", P, 1, 76, (P - rank) * 76, (rank + 1) * 76);
    MPI_Iexscan(a, b, 21, MPI_INT, MPI_SUM, world, &r), done(&r);
    truth("MPI_Iexscan", P, 1, 84, (P - rank - 1) * 84, rank * 84);
}

#if MPI_VERSION >= 4
/* The bytes move when the request is started, three times. */
static void persistent(void)
{
    const int P = ranks;
    MPI_Request r[2];
    MPI_Allreduce_init(a, b, 100, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &r[0]);
    truth("MPI_Allreduce_init", P, 1, 400, 0, 0);
    MPI_Bcast_init(a, 30, MPI_INT, ROOT, world, MPI_INFO_NULL, &r[1]);
    truth("MPI_Bcast_init", P, 1, 120, 0, 0);
    for (int i = 0; i < 3; i++)
        MPI_Start(&r[0]), done(&r[0]);
    truth("MPI_Start", P, 3, 400, 3 * P * 400, 3 * P * 400);
    MPI_Start(&r[1]), done(&r[1]);
    truth("MPI_Start", P, 1, 120, rank == ROOT ? P * 120 : 0, 120);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    truth("MPI_Request_free", -1, 2, -1, 0, 0);
}
#endif

/* A line of ranks: both ends have one neighbour, the rest two. */
static void neighbourhood(void)
{
    const int n = (rank > 0) + (rank < ranks - 1);
    int ends = 0, to[2], in = 0;
    MPI_Request r;
    MPI_Comm line, graph;
    MPI_Cart_create(world, 1, &ranks, &ends, 0, &line);
    truth("MPI_Cart_create", ranks, 1, -1, 0, 0);
    MPI_Neighbor_allgather(a, 5, MPI_INT, b, 5, MPI_INT, line);
    truth("MPI_Neighbor_allgather", ranks, 1, 20, n * 20, n * 20);
    int two[] = {3, 3}, at[] = {0, 3};
    MPI_Neighbor_allgatherv(a, 3, MPI_INT, b, two, at, MPI_INT, line);
    truth("MPI_Neighbor_allgatherv", ranks, 1, 12, n * 12, n * 12);
    MPI_Neighbor_alltoall(a, 6, MPI_INT, b, 6, MPI_INT, line);
    truth("MPI_Neighbor_alltoall", ranks, 1, 24, n * 24, n * 24);
    MPI_Neighbor_alltoallv(a, two, at, MPI_INT, b, two, at, MPI_INT, line);
    truth("MPI_Neighbor_alltoallv", ranks, 1, 12, n * 12, n * 12);
    MPI_Ineighbor_alltoall(a, 7, MPI_INT, b, 7, MPI_INT, line, &r), done(&r);
    truth("MPI_Ineighbor_alltoall", ranks, 1, 28, n * 28, n * 28);
    MPI_Aint far[] = {0, 64};
    MPI_Neighbor_alltoallw(a, two, far, types, b, two, far, types, line);
    truth("MPI_Neighbor_alltoallw", ranks, 1, 12, n * 12, n * 12);
    MPI_Comm_free(&line);

    /* Everyone sends to rank 0. */
    for (int i = 0; rank == 0 && i < ranks; i++)
        displs[i] = i, in++;
    to[0] = 0;
    MPI_Dist_graph_create_adjacent(world, in, displs, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    truth("MPI_Dist_graph_create_adjacent", ranks, 1, -1, 0, 0);
    MPI_Neighbor_alltoall(a, 8, MPI_INT, b, 8, MPI_INT, graph);
    truth("MPI_Neighbor_alltoall", ranks, 1, 32, 32, in * 32);
    MPI_Comm_free(&graph);
    truth("MPI_Comm_free", -1, 2, -1, 0, 0);
}

/* Rank 0 against the others. */
static void between_groups(void)
{
    MPI_Comm side, inter;
    const int mine = rank == 0 ? 1 : ranks - 1, peers = ranks - mine;
    MPI_Comm_split(world, rank == 0, 0, &side);
    truth("MPI_Comm_split", ranks, 1, -1, 0, 0);
    MPI_Intercomm_create(side, 0, world, rank == 0 ? 1 : 0, 0, &inter);
    truth("MPI_Intercomm_create", mine, 1, -1, 0, 0);
    MPI_Bcast(a, 10, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
    truth("MPI_Bcast", mine, 1, 40, rank == 0 ? peers * 40 : 0, rank == 0 ? 0 : 40);
    MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, inter);
    truth("MPI_Allgather", mine, 1, 12, peers * 12, peers * 12);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
    truth("MPI_Comm_free", -1, 2, -1, 0, 0);
}

int main(int argc, char **argv)
{
    MPI_Datatype wide;
    MPI_Init(&argc, &argv);
    truth_open(argv[1]);
    for (int i = 0; i < ranks; i++) {
        counts[i] = i + 1;
        other_counts[i] = rank + 1;
        displs[i] = i * (ranks + 1);
        types[i] = MPI_INT;
    }
    MPI_Type_vector(3, 2, 5, MPI_INT, &wide);
    MPI_Type_commit(&wide);
    blocking(wide);
    nonblocking();
#if MPI_VERSION >= 4
    persistent();
#endif
    neighbourhood();
    between_groups();
    MPI_Type_free(&wide);
    MPI_Finalize();
    return fclose(truth_file) != 0;
}
