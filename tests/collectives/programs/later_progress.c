/* Whatever a rank waits for in MPI, the nonblocking collectives that it has begun go on; "right" at the end. Rank 0 waits for a
 * collective, while the others wait in some other call for what rank 0 does after that. First word "copy": on a copy of the world. Second word
 * "persistent": by persistent ones, each started twice, which ranks start in different orders. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong, persistent;

static void expect(int good, const char *what, int round)
{
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong in round %d\n", rank, what, round);
        wrong = 1;
    }
}

enum way { RECEIVE, PROBE, ALL, SYNCHRONOUS, BARRIER, SUM, FENCE, DUP, WAYS };

/* What rank 0 does once its collective is over, and the others while theirs is under way. */
static void meet(enum way way, MPI_Comm comm, MPI_Win window)
{
    int token = 7, sum = 0;
    MPI_Status status;
    MPI_Request request;
    MPI_Comm copy;
    switch (way) {
    case RECEIVE:
    case PROBE:
    case ALL:
        for (int i = 1; rank == 0 && i < ranks; i++)
            MPI_Send(&token, 1, MPI_INT, i, way, comm);
        if (rank > 0 && way == PROBE)
            MPI_Probe(0, way, comm, &status);
        if (rank > 0 && way == ALL) {
            MPI_Irecv(&token, 1, MPI_INT, 0, way, comm, &request);
            MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        } else if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, 0, way, comm, MPI_STATUS_IGNORE);
        break;
    case SYNCHRONOUS:
        for (int i = 1; rank == 0 && i < ranks; i++)
            MPI_Recv(&token, 1, MPI_INT, i, way, comm, MPI_STATUS_IGNORE);
        if (rank > 0)
            MPI_Ssend(&token, 1, MPI_INT, 0, way, comm);
        break;
    case BARRIER: MPI_Barrier(comm); break;
    case SUM: MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm); break;
    case FENCE: MPI_Win_fence(0, window); break;
    case DUP:
        MPI_Comm_dup(comm, &copy);
        MPI_Comm_free(&copy);
        break;
    default: break;
    }
}

enum { LENGTH = 3000, KINDS = 13, RANKS_MOST = 16, BLOCK = LENGTH / RANKS_MOST };
static double mine[LENGTH], sums[LENGTH], reduced[LENGTH], spread[LENGTH], gathered[LENGTH], collected[LENGTH],
    part[LENGTH], prefix[LENGTH], before[LENGTH], block_sums[LENGTH], own_sums[LENGTH], unlike[LENGTH];
static int blocks[LENGTH];                          /* of an alltoall in place */
static int lengths[RANKS_MOST], places[RANKS_MOST]; /* of blocks of unlike lengths, which lie the other way round */

static void fill(int round, int root)
{
    for (int i = 0; i < LENGTH; i++) {
        mine[i] = rank + i + round;
        spread[i] = rank == root ? i - round : -1;
        sums[i] = reduced[i] = gathered[i] = collected[i] = part[i] = -1;
        prefix[i] = block_sums[i] = own_sums[i] = unlike[i] = -1;
        before[i] = mine[i]; /* in place */
        blocks[i] = 10000 * rank + i + round;
    }
}

static int block_of(int length)
{
    return length < BLOCK ? length : BLOCK;
}

/* Of each rank: some have none. */
static void draw_lengths(int length, int round)
{
    int next = 0;
    for (int i = ranks - 1; i >= 0; next += lengths[i--]) {
        lengths[i] = block_of(length) * ((i + round) % 3) / 2;
        places[i] = next;
    }
}

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static void make(MPI_Request *requests, int length, int root, MPI_Comm comm)
{
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Allreduce_init(mine, sums, length, MPI_DOUBLE, MPI_SUM, comm, none, &requests[0]);
    MPI_Bcast_init(spread, length, MPI_DOUBLE, root, comm, none, &requests[1]);
    MPI_Reduce_init(mine, reduced, length, MPI_DOUBLE, MPI_MAX, root, comm, none, &requests[2]);
    MPI_Barrier_init(comm, none, &requests[3]);
    MPI_Allgather_init(mine, block_of(length), MPI_DOUBLE, gathered, block_of(length), MPI_DOUBLE, comm, none,
                       &requests[4]);
    MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_INT, blocks, block_of(length), MPI_INT, comm, none, &requests[5]);
    MPI_Gather_init(mine, block_of(length), MPI_DOUBLE, collected, block_of(length), MPI_DOUBLE, root, comm, none,
                    &requests[6]);
    MPI_Scatter_init(mine, block_of(length), MPI_DOUBLE, part, block_of(length), MPI_DOUBLE, root, comm, none,
                     &requests[7]);
    MPI_Scan_init(mine, prefix, length, MPI_DOUBLE, MPI_SUM, comm, none, &requests[8]);
    MPI_Exscan_init(MPI_IN_PLACE, before, length, MPI_DOUBLE, MPI_SUM, comm, none, &requests[9]);
    MPI_Reduce_scatter_block_init(mine, block_sums, block_of(length), MPI_DOUBLE, MPI_SUM, comm, none, &requests[10]);
    MPI_Reduce_scatter_init(mine, own_sums, lengths, MPI_DOUBLE, MPI_SUM, comm, none, &requests[11]);
    MPI_Allgatherv_init(mine, lengths[rank], MPI_DOUBLE, unlike, lengths, places, MPI_DOUBLE, comm, none,
                        &requests[12]);
}
#else
static void make(MPI_Request *requests, int length, int root, MPI_Comm comm)
{
    (void)requests, (void)length, (void)root, (void)comm;
    puts("none");
    MPI_Finalize();
    exit(0);
}
#endif

/* By all ranks twice, the first time with other data. */
static void start(MPI_Request *requests, int length, int round, int root, MPI_Comm comm)
{
    make(requests, length, root, comm);
    fill(round + 1, root);
    MPI_Startall(KINDS, requests);
    for (int i = 0; i < KINDS; i++)
        MPI_Wait(&requests[(i + 2 * rank) % KINDS], MPI_STATUS_IGNORE);
    expect(sums[0] == ranks * (ranks - 1) / 2.0 + ranks * (double)(round + 1), "the first sum", round);
    expect(spread[0] == -round - 1, "what the root sent first", round);
    fill(round, root);
    for (int i = 0; i < KINDS; i++)
        MPI_Start(&requests[(i + rank) % KINDS]);
}

/* Several under way, of all kinds; root `root`. */
static void one(enum way way, int round, int root, MPI_Comm comm, MPI_Win window)
{
    MPI_Request requests[KINDS];
    const int length = round % 3 == 0 ? LENGTH : 1 + round % 7, block = block_of(length);
    const double all = ranks * (ranks - 1) / 2.0;
    int first = 0; /* of this rank's block of those of unlike lengths */
    draw_lengths(length, round);
    for (int i = 0; i < rank; i++)
        first += lengths[i];
    if (persistent) {
        start(requests, length, round, root, comm);
    } else {
        fill(round, root);
        MPI_Iallreduce(mine, sums, length, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
        MPI_Ibcast(spread, length, MPI_DOUBLE, root, comm, &requests[1]);
        MPI_Ireduce(mine, reduced, length, MPI_DOUBLE, MPI_MAX, root, comm, &requests[2]);
        MPI_Ibarrier(comm, &requests[3]);
        MPI_Iallgather(mine, block, MPI_DOUBLE, gathered, block, MPI_DOUBLE, comm, &requests[4]);
        MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, blocks, block, MPI_INT, comm, &requests[5]);
        MPI_Igather(mine, block, MPI_DOUBLE, collected, block, MPI_DOUBLE, root, comm, &requests[6]);
        MPI_Iscatter(mine, block, MPI_DOUBLE, part, block, MPI_DOUBLE, root, comm, &requests[7]);
        MPI_Iscan(mine, prefix, length, MPI_DOUBLE, MPI_SUM, comm, &requests[8]);
        MPI_Iexscan(MPI_IN_PLACE, before, length, MPI_DOUBLE, MPI_SUM, comm, &requests[9]);
        MPI_Ireduce_scatter_block(mine, block_sums, block, MPI_DOUBLE, MPI_SUM, comm, &requests[10]);
        MPI_Ireduce_scatter(mine, own_sums, lengths, MPI_DOUBLE, MPI_SUM, comm, &requests[11]);
        MPI_Iallgatherv(mine, lengths[rank], MPI_DOUBLE, unlike, lengths, places, MPI_DOUBLE, comm, &requests[12]);
    }
    if (rank == 0)
        MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
    meet(way, comm, window);
    if (rank > 0)
        for (int i = 0; i < KINDS; i++)
            MPI_Wait(&requests[(i + rank) % KINDS], MPI_STATUS_IGNORE);
    for (int i = 0; i < KINDS && persistent; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < length; i++) {
        expect(sums[i] == all + ranks * (double)(i + round), "a sum", round);
        expect(spread[i] == i - round, "what the root sent", round);
        expect(prefix[i] == rank * (rank + 1) / 2.0 + (rank + 1) * (double)(i + round), "a prefix", round);
        expect(rank == 0 || before[i] == rank * (rank - 1) / 2.0 + rank * (double)(i + round), "what is before", round);
        expect(reduced[i] == (rank == root ? ranks - 1 + i + round : -1), "the greatest", round);
    }
    for (int i = 0; i < block * ranks; i++) {
        const double of_block = i / block + i % block + round;
        expect(gathered[i] == of_block, "what was gathered", round);
        expect(collected[i] == (rank == root ? of_block : -1), "what the root gathered", round);
        expect(part[i] == (i < block ? root + rank * block + i + round : -1), "what was scattered", round);
        expect(block_sums[i] == (i < block ? all + ranks * (double)(rank * block + i + round) : -1), "a block's sum",
               round);
        expect(blocks[i] == 10000 * (i / block) + rank * block + i % block + round, "a block", round);
    }
    for (int i = 0; i <= lengths[rank]; i++)
        expect(own_sums[i] == (i < lengths[rank] ? all + ranks * (double)(first + i + round) : -1), "an own sum",
               round);
    for (int from = 0; from < ranks; from++)
        for (int i = 0; i < lengths[from]; i++)
            expect(unlike[places[from] + i] == from + i + round, "a block of its own length", round);
}

int main(int argc, char **argv)
{
    int any = 0, number = 0;
    MPI_Win window;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "copy") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    persistent = argc > 2 && strcmp(argv[2], "persistent") == 0;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_fence(0, window);
    for (int round = 0; round < 6 * WAYS; round++)
        one((enum way)(round % WAYS), round, round / 2 % ranks, comm, window);
    MPI_Win_free(&window);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
