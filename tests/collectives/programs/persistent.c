/* Persistent collectives as programs use them; "right" at the end, "none" where the MPI has none. With the word "world" only on
 * MPI_COMM_WORLD, where all are ours from the first on. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

enum { LENGTH = 64, LONG = 4000, STARTS = 40 };

static int rank, ranks, wrong;

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static double sum_of(double first) /* of first, first + 1 ... over the ranks */
{
    return ranks * first + ranks * (ranks - 1) / 2.0;
}

/* Several of them, started in turns and together, waited for in every way: short ones, a long one that no memory takes, messages
 * to a neighbour, and nonblocking calls between them. */
static void in_turns(MPI_Comm comm)
{
    enum { SUM, BCAST, ALL, LONGER, SENT, GOT, MANY };
    static double from[LENGTH], sum[LENGTH], shared[LENGTH], long_from[LONG], long_sum[LONG];
    static int block[8], blocks[8 * 64], note, noted;
    MPI_Request requests[MANY], copy[MANY], barrier, several[3];
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, which, some, done, places[MANY];
    MPI_Allreduce_init(from, sum, LENGTH, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[SUM]);
    MPI_Bcast_init(shared, LENGTH, MPI_DOUBLE, ranks - 1, comm, MPI_INFO_NULL, &requests[BCAST]);
    MPI_Allgather_init(block, 8, MPI_INT, blocks, 8, MPI_INT, comm, MPI_INFO_NULL, &requests[ALL]);
    MPI_Allreduce_init(long_from, long_sum, LONG, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[LONGER]);
    MPI_Send_init(&note, 1, MPI_INT, next, 3, comm, &requests[SENT]);
    MPI_Recv_init(&noted, 1, MPI_INT, before, 3, comm, &requests[GOT]);
    memcpy(copy, requests, sizeof copy);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE); /* none has been started */
    for (int k = 0; k < STARTS; k++) {
        int left = MANY;
        double one = rank + k, all = 0;
        note = 10 * k + rank;
        for (int i = 0; i < LENGTH; i++) {
            from[i] = rank + i + k;
            shared[i] = rank == ranks - 1 ? i * k : -1;
        }
        for (int i = 0; i < LONG; i++)
            long_from[i] = rank + i + k;
        for (int i = 0; i < 8; i++)
            block[i] = 100 * rank + i + k;
        if (k % 2)
            MPI_Startall(MANY, requests);
        else
            for (int i = 0; i < MANY; i++)
                MPI_Start(&requests[i]);
        MPI_Iallreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, comm, &barrier);
        switch (k % 8) {
        case 0: MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE); break;
        case 1:
            for (int i = MANY - 1; i >= 0; i--)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            break;
        case 2:
            for (; left > 0; left--) {
                MPI_Status status;
                MPI_Waitany(MANY, requests, &which, &status);
                expect(which >= 0 && which < MANY, "the place of one that is over");
                expect(which != GOT || status.MPI_TAG == 3, "the status of a message among them");
            }
            MPI_Waitany(MANY, requests, &which, MPI_STATUS_IGNORE);
            expect(which == MPI_UNDEFINED, "the place where none is active");
            break;
        case 3:
            for (; left > 0; left -= some)
                MPI_Waitsome(MANY, requests, &some, places, MPI_STATUSES_IGNORE);
            break;
        case 4:
            for (int i = 0; i < MANY; i++)
                for (done = 0; !done;)
                    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            break;
        case 5:
            for (done = 0; !done;)
                MPI_Testall(MANY, requests, &done, MPI_STATUSES_IGNORE);
            break;
        case 6:
            while (left > 0) {
                MPI_Testany(MANY, requests, &which, &done, MPI_STATUS_IGNORE);
                left -= done;
            }
            break;
        default:
            for (int i = 0; i < MANY; i++) {
                for (done = 0; !done;)
                    MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
        }
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        expect(memcmp(copy, requests, sizeof copy) == 0, "a request that is no longer the program's");
        expect(all == sum_of(k), "a sum between them");
        expect(noted == 10 * k + before, "a message among them");
        for (int i = 0; i < LENGTH; i++) {
            expect(sum[i] == sum_of(i + k), "a sum");
            expect(shared[i] == i * k, "what was broadcast");
        }
        for (int i = 0; i < LONG; i += 13)
            expect(long_sum[i] == sum_of(i + k), "a long sum");
        for (int i = 0; i < 8 * ranks && i < 8 * 64; i++)
            expect(blocks[i] == 100 * (i / 8) + i % 8 + k, "what was gathered");
    }
    for (int i = 0; i < 3; i++) /* one more is started, and waited for with requests that are not */
        several[i] = requests[i];
    MPI_Start(&several[1]);
    MPI_Waitall(3, several, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&requests[i]);
    expect(requests[SUM] == MPI_REQUEST_NULL, "a request that was freed");
}

/* Types that the program frees before it starts, arguments that are not significant, and buffers in place. */
static void types(MPI_Comm comm)
{
    enum { SPREAD, GATHERED, SCATTERED, IN_PLACE, MANY };
    MPI_Datatype spread, other;
    MPI_Request requests[MANY];
    static int data[40], own, all[64], parts[64], part, kept[4];
    int root = ranks - 1, *none = NULL;
    MPI_Type_vector(5, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Bcast_init(data, 2, spread, root, comm, MPI_INFO_NULL, &requests[SPREAD]);
    MPI_Type_free(&spread);
    MPI_Gather_init(&own, 1, MPI_INT, rank == root ? all : none, 1, rank == root ? MPI_INT : MPI_DATATYPE_NULL, root,
                    comm, MPI_INFO_NULL, &requests[GATHERED]);
    MPI_Scatter_init(rank == root ? parts : none, 1, rank == root ? MPI_INT : MPI_DATATYPE_NULL, &part, 1, MPI_INT,
                     root, comm, MPI_INFO_NULL, &requests[SCATTERED]);
    MPI_Allreduce_init(MPI_IN_PLACE, kept, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[IN_PLACE]);
    MPI_Type_vector(3, 2, 3, MPI_INT, &other);
    MPI_Type_commit(&other);
    for (int k = 0; k < STARTS; k++) {
        for (int i = 0; i < 40; i++)
            data[i] = rank == root ? i + k : -1;
        own = rank + k;
        for (int i = 0; i < ranks && i < 64; i++)
            parts[i] = i * k;
        for (int i = 0; i < 4; i++)
            kept[i] = rank + i;
        MPI_Startall(MANY, requests);
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 18; i++) /* the second begins at the first's end, which is at 9 */
            if (rank != root)
                expect(data[i] == (i < 9 ? (i % 2 == 0 ? i + k : -1) : (i % 2 == 1 ? i + k : -1)), "between gaps");
        for (int i = 0; rank == root && i < ranks && i < 64; i++)
            expect(all[i] == i + k, "what the root gathered");
        expect(part == rank * k, "what was scattered");
        for (int i = 0; i < 4; i++)
            expect(kept[i] == (int)sum_of(i), "a sum in place");
    }
    MPI_Type_free(&other);
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&requests[i]);
}

/* Data that lie where a type says, persistent and nonblocking. */
static void at_addresses(MPI_Comm comm)
{
    static int far[3], further[2];
    const int lengths[2] = {3, 2}, root = 0;
    MPI_Aint places[2];
    MPI_Datatype both;
    MPI_Request requests[2];
    MPI_Get_address(far, &places[0]);
    MPI_Get_address(further, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &both);
    MPI_Type_commit(&both);
    MPI_Bcast_init(MPI_BOTTOM, 1, both, root, comm, MPI_INFO_NULL, &requests[0]);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 3; i++)
            far[i] = rank == root ? i + k : -1;
        further[1] = rank == root ? 7 * k : -1;
        if (k % 2)
            MPI_Ibcast(MPI_BOTTOM, 1, both, root, comm, &requests[1]);
        else
            MPI_Start(&requests[0]);
        MPI_Wait(&requests[k % 2], MPI_STATUS_IGNORE);
        expect(far[0] == k && far[2] == k + 2 && further[1] == 7 * k, "what is at addresses");
    }
    MPI_Request_free(&requests[0]);
    MPI_Type_free(&both);
}

/* Many requests at a time, of which every second is freed; and communicators that end. */
static void many(void)
{
    enum { MANY = 600 };
    static MPI_Request requests[MANY];
    static int from[MANY], to[MANY];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MANY; i++)
        MPI_Allreduce_init(&from[i], &to[i], 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[i]);
    for (int i = 0; i < MANY; i += 2)
        MPI_Request_free(&requests[i]);
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < MANY; i += 2) {
            from[i] = rank * i + k;
            MPI_Start(&requests[i]);
            if (i % 8 == 7) {
                MPI_Waitall(8, &requests[i - 7], MPI_STATUSES_IGNORE);
                for (int j = i - 6; j <= i; j += 2)
                    expect(to[j] == (ranks - 1) * j + k, "a maximum of many");
            }
        }
    for (int i = 1; i < MANY; i += 2)
        MPI_Request_free(&requests[i]);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    int any = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in_turns(MPI_COMM_WORLD);
    types(MPI_COMM_WORLD);
    at_addresses(MPI_COMM_WORLD);
    if (argc < 2) {
        many();
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        in_turns(copy);
        types(copy);
        MPI_Comm_free(&copy);
    }
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}

#else

int main(void)
{
    printf("none\n");
    return 0;
}

#endif
